import type { Numbers } from "../segments/columns.ts";

/**
 * Numbers the people of a workspace from 1, so that questions tell them apart by arrays: the database numbers those of
 * all workspaces together. 0 is nobody: a visit without a visitor whose device is gone.
 */
export interface PeopleNumbers {
  /** The number of a visitor, by the visitor's number in the database. */
  ofVisitor(visitor: number): number;
  /** The same, or undefined for a visitor who was never numbered. */
  known(visitor: number): number | undefined;
  /** For each visit the number of its visitor, or of its device if it has none. */
  ofVisits(visitors: Numbers, devices: Numbers, became: (visitor: number) => number): Uint32Array;
  /** One more than the greatest number. */
  count(): number;
  /** 1 at the numbers of visitors, and 0 at those of devices. */
  areVisitors(): Uint8Array;
  /** About how many bytes it takes. */
  bytes(): number;
}

/** Entries of a table with as many places are at most this share of them. */
const loadMax = 0.6;

export function createPeopleNumbers(): PeopleNumbers {
  // Twice the number in the database, and one more for a device: 0 is a free place.
  let keys = new Float64Array(1024);
  let places = new Uint32Array(1024);
  let areVisitors = new Uint8Array(1024);
  let count = 1;

  /** Where a key stands, or would stand. */
  function placeOf(key: number): number {
    const mask = keys.length - 1;
    let place = (Math.imul(key | 0, 0x9e3779b1) ^ Math.imul((key / 4_294_967_296) | 0, 0x85ebca6b)) >>> 0;
    place = (place ^ (place >>> 15)) & mask;
    for (let found = keys[place]; found !== key && found !== 0; found = keys[place])
      place = (place + 1) & mask;
    return place;
  }

  function grow(): void {
    const [oldKeys, oldPlaces] = [keys, places];
    keys = new Float64Array(2 * oldKeys.length);
    places = new Uint32Array(2 * oldKeys.length);
    for (const [index, key] of oldKeys.entries()) {
      if (key === 0) continue;
      const place = placeOf(key);
      keys[place] = key;
      places[place] = oldPlaces[index] ?? 0;
    }
    const more = new Uint8Array(2 * areVisitors.length);
    more.set(areVisitors);
    areVisitors = more;
  }

  function numberOf(key: number, isVisitor: 0 | 1): number {
    let place = placeOf(key);
    if (keys[place] === key) return places[place] ?? 0;
    if (count >= loadMax * keys.length) {
      grow();
      place = placeOf(key);
    }
    keys[place] = key;
    places[place] = count;
    areVisitors[count] = isVisitor;
    return count++;
  }

  return {
    ofVisitor: (visitor) => numberOf(2 * visitor, 1),
    known(visitor) {
      const place = placeOf(2 * visitor);
      return keys[place] === 0 ? undefined : places[place];
    },
    ofVisits(visitors, devices, became) {
      const people = new Uint32Array(visitors.length);
      for (let row = 0; row < people.length; row++) {
        const known = visitors[row] ?? 0;
        const visitor = known === 0 ? 0 : became(known);
        const device = devices[row] ?? 0;
        if (visitor !== 0) people[row] = numberOf(2 * visitor, 1);
        else if (device !== 0) people[row] = numberOf(2 * device + 1, 0);
      }
      return people;
    },
    count: () => count,
    areVisitors: () => areVisitors,
    bytes: () => 13 * keys.length,
  };
}
