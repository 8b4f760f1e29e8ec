/** Local times by another way than the service's: the formatter says by how much clocks are ahead. */
const formats = new Map<string, Intl.DateTimeFormat>();

const known = new Map<string, number>();

/** By how much clocks are ahead of UTC. They are set on full quarters of an hour. */
export function aheadMs(ms: number, timezone: string): number {
  const key = `${timezone} ${Math.floor(ms / 900_000)}`;
  const ahead = known.get(key) ?? readAheadMs(ms, timezone);
  known.set(key, ahead);
  return ahead;
}

function readAheadMs(ms: number, timezone: string): number {
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "longOffset" });
  formats.set(timezone, format);
  const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign, hours, minutes] = /GMT([+-])(\d+):(\d+)/.exec(name) ?? [];
  if (sign === undefined) return 0;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

const dayMs = 86_400_000;

/**
 * The beginnings of intervals of a quarter of an hour, an hour, a day or a week. It holds for zones whose clocks are set
 * by full hours and not at midnight.
 */
export function naiveStarts(from: number, to: number, minutes: number, timezone: string): number[] {
  const length = minutes * 60_000;
  const starts: number[] = [];
  if (minutes < 1_440) {
    const stepMs = 15 * 60_000;
    // Every quarter of an hour, whether the clock shows a full multiple, or has skipped one.
    const multiples = (at: number) => (at + aheadMs(at, timezone)) / length;
    for (let at = Math.floor((from - length) / stepMs) * stepMs; at <= to; at += stepMs) {
      const now = multiples(at);
      if (!Number.isInteger(now) && Math.floor(now) <= Math.floor(multiples(at - stepMs))) continue;
      if (at <= from) starts.length = 0;
      starts.push(at);
    }
    return starts;
  }
  // Local midnights, and of those the Mondays' for weeks.
  let midnight = Math.floor((from + aheadMs(from, timezone)) / dayMs) * dayMs;
  while (minutes === 10_080 && new Date(midnight).getUTCDay() !== 1) midnight -= dayMs;
  for (; ; midnight += length) {
    const guess = midnight - aheadMs(midnight, timezone);
    const at = midnight - aheadMs(guess, timezone);
    if (at > to) return starts;
    starts.push(at);
  }
}
