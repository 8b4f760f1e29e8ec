import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { invalid } from "../../lib/errors.ts";
import type { Json } from "../tool.ts";

/** A range of time; both ends count. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
}

const dayMs = 86_400_000;

/** The days up to a moment. */
export function periodOf(days: number, to: Timestamp | undefined, now: Date): Period {
  const end = to === undefined ? now : timestampDate(to);
  return { from: new Date(end.getTime() - (days || 30) * dayMs), to: end };
}

/** The period of the same length that ends where this one begins. */
export function periodBefore({ from, to }: Period): Period {
  const length = to.getTime() - from.getTime();
  return { from: new Date(from.getTime() - length), to: new Date(from.getTime() - 1) };
}

/** A period as operations take it. */
export function datesOf({ from, to }: Period): Json {
  return { startDate: from.toISOString(), endDate: to.toISOString() };
}

/** A period as results have it. */
export function timesOf({ from, to }: Period) {
  return { from: timestampFromDate(from), to: timestampFromDate(to) };
}

/** A day for people. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Refuses a task that is told a link and a tag. */
export function refuseBoth(link: string, tag: string): void {
  if (link === "" || tag === "") return;
  const description = "give a link or a tag, and not both";
  throw invalid([{ field: "tag", description }], "MUTUALLY_EXCLUSIVE_FIELDS");
}
