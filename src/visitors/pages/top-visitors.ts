import { bytesOfIds, idsOfBytes } from "./id-bytes.ts";

/** A visitor's place in an order: by the key, then by the id in the same direction. */
export interface Ranked {
  readonly key: number;
  readonly id: string;
}

export interface TopVisitors {
  /** How many were offered, those before the beginning included. */
  readonly offered: () => number;
  /** Offers the visitor whose id has its 16 bytes at an offset. */
  readonly offer: (key: number, ids: Buffer, offset: number) => void;
  /** The first visitors of the order. */
  readonly taken: () => Ranked[];
}

interface Kept {
  readonly key: number;
  readonly id: Buffer;
}

/** Keeps the first visitors after `after` in an order, out of any number that is offered in any order. */
export function createTopVisitors(limit: number, ascending: boolean, after: Ranked | undefined): TopVisitors {
  const direction = ascending ? 1 : -1;
  const start = after === undefined ? undefined : { key: after.key, id: bytesOfIds([after.id]) };
  const kept: Kept[] = [];
  let offered = 0;
  /** Negative when the offered visitor comes before the other. */
  const compare = (key: number, ids: Buffer, offset: number, other: Kept): number => {
    if (key !== other.key) return key < other.key ? -direction : direction;
    return direction * ids.compare(other.id, 0, 16, offset, offset + 16);
  };
  const keptIds = () => idsOfBytes(Buffer.concat(kept.map(({ id }) => id)));
  return {
    offered: () => offered,
    offer(key, ids, offset) {
      offered += 1;
      const last = kept.length < limit ? undefined : kept.at(-1);
      if (last !== undefined && compare(key, ids, offset, last) >= 0) return;
      if (start !== undefined && compare(key, ids, offset, start) <= 0) return;
      let place = kept.length;
      for (let before = kept[place - 1]; before !== undefined; before = kept[place - 1]) {
        if (compare(key, ids, offset, before) >= 0) break;
        place -= 1;
      }
      kept.splice(place, 0, { key, id: ids.subarray(offset, offset + 16) });
      if (kept.length > limit) kept.pop();
    },
    taken: () => keptIds().map((id, place) => ({ key: kept[place]?.key ?? 0, id })),
  };
}
