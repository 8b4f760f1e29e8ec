import type { RawRows } from "./raw-rows.ts";

/**
 * For each row of `events`, the row of `devices` with the same id in these columns; -1 where there is none. Ids are told
 * apart by their last 64 bits, which the service draws at random. A text for each of them would cost as much as
 * writing the row.
 */
export function joinRows(
  events: RawRows,
  eventColumn: number,
  devices: RawRows,
  deviceColumn: number,
): Int32Array {
  const size = 2 ** Math.ceil(Math.log2(2 * devices.count + 1));
  const rows = new Int32Array(size).fill(-1);
  const highs = new Int32Array(size);
  const lows = new Int32Array(size);
  /** The slot of an id, or the free one where it belongs. */
  const slotOf = (high: number, low: number): number => {
    let slot = low & (size - 1);
    while (rows[slot] !== -1 && (lows[slot] !== low || highs[slot] !== high)) slot = (slot + 1) & (size - 1);
    return slot;
  };
  for (let row = 0; row < devices.count; row++) {
    const at = devices.starts[row * devices.width + deviceColumn] ?? 0;
    const high = devices.bytes.readInt32LE(at + 8);
    const low = devices.bytes.readInt32LE(at + 12);
    const slot = slotOf(high, low);
    rows[slot] = row;
    highs[slot] = high;
    lows[slot] = low;
  }
  const joined = new Int32Array(events.count);
  for (let row = 0; row < events.count; row++) {
    const at = events.starts[row * events.width + eventColumn] ?? 0;
    joined[row] = rows[slotOf(events.bytes.readInt32LE(at + 8), events.bytes.readInt32LE(at + 12))] ?? -1;
  }
  return joined;
}
