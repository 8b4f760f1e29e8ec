import { Cost } from "../../gen/signpost/options/v1/handling_pb.js";
import { createFairLine, type FairLine, type LineLimits } from "../lib/fair-line.ts";

/**
 * What calls of a class get of a process at a time. Light calls have no line: what they cost is what the rate counts.
 * Drawing and reading pictures is work of this process's own thread, in steps of some 20 ms: two at a time keep it busy and
 * leave everybody else a turn between them. Of the connections to PostgreSQL, ten by default, searches leave some.
 */
const lineLimits: ReadonlyMap<Cost, LineLimits> = new Map([
  [Cost.QUERY, { atOnce: 8, atOncePerParty: 4, waiting: 2_000, waitingPerParty: 400 }],
  [Cost.RENDER, { atOnce: 2, atOncePerParty: 1, waiting: 200, waitingPerParty: 50 }],
]);

/** The line of every class that has one. */
export type Lines = ReadonlyMap<Cost, FairLine>;

export function openLines(): Lines {
  return new Map([...lineLimits].map(([cost, limits]) => [cost, createFairLine(limits)]));
}
