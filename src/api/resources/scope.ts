import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Scope } from "../../analytics/question.ts";
import { type Fault, invalidArgument, refuse } from "../../lib/errors.ts";
import { intervalStarts } from "../../model/intervals.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { nameKey } from "./name-key.ts";
import { notFound } from "./not-found.ts";
import { findScope } from "./scope-queries.ts";

/** The fields by which requests say which visits they are about. */
export interface ScopeRequest {
  readonly linkId: string;
  readonly tag: string;
  readonly startDate?: Timestamp | undefined;
  readonly endDate?: Timestamp | undefined;
}

/** A scope with both ends, and the zone of its clocks. */
export interface Range extends Scope {
  readonly from: Date;
  readonly to: Date;
  readonly timezone: string;
}

const dayMs = 86_400_000;
const daysMax = 400;
const daysByDefault = 30;
const intervalsMax = 2_000;

/** Refuses ranges that are too long. Ends that are not given count as in `readRange`. */
export function rangeFaults({ startDate, endDate }: ScopeRequest, now: Date): readonly Fault[] {
  if (startDate === undefined) return [];
  const from = wholeMs(startDate, Math.ceil).getTime();
  const to = endDate === undefined ? now.getTime() : wholeMs(endDate, Math.floor).getTime();
  if (from < 0) return [invalidArgument("startDate", "must not be before 1970")];
  if (endDate === undefined && from > to)
    return [invalidArgument("startDate", "must not be in the future: give an endDate after it too")];
  if (to - from <= daysMax * dayMs) return [];
  const earliest = new Date(to - daysMax * dayMs).toISOString();
  return [
    invalidArgument("startDate", `must be at most ${daysMax} days before the end: give ${earliest} or later`),
  ];
}

/** The scope of a request, without ends that it does not give. Throws NOT_FOUND for a link that the workspace lacks. */
export async function readScope(request: ScopeRequest, context: Context): Promise<Scope> {
  const { scope, hasLink } = await lookUp(request, context);
  if (!hasLink) throw notFound("link", "linkId", request.linkId);
  return scope;
}

/** The same with both ends: the last 30 days when the request gives none. */
export async function readRange(request: ScopeRequest, context: Context, now: Date): Promise<Range> {
  const { range } = await readIntervals(request, context, now, () => undefined);
  return range;
}

/**
 * The same with the beginnings of the intervals. Their length in minutes depends on the range. `checkCount` may refuse
 * their number.
 */
export async function readIntervals<Minutes extends number | undefined>(
  request: ScopeRequest,
  context: Context,
  now: Date,
  minutesFor: (range: Range) => Minutes,
  checkCount: (intervals: number) => void = () => {},
): Promise<{ readonly range: Range; readonly starts: readonly Date[] }> {
  const { scope, hasLink, timezone } = await lookUp(request, context);
  const to = scope.to ?? now;
  const from = scope.from ?? new Date(Math.max(0, to.getTime() - daysByDefault * dayMs));
  const range = { ...scope, from, to, timezone };
  const minutes = minutesFor(range);
  const starts = minutes === undefined ? [] : startsOf(range, minutes);
  checkCount(starts.length);
  if (!hasLink) throw notFound("link", "linkId", request.linkId);
  return { range, starts };
}

function startsOf(range: Range, minutes: number): readonly Date[] {
  const starts = intervalStarts(range, minutes, range.timezone, intervalsMax);
  if (starts !== undefined) return starts;
  const rangeMinutes = (range.to.getTime() - range.from.getTime()) / 60_000;
  const least = Math.ceil(rangeMinutes / (intervalsMax - 2));
  const advice = `makes more than ${intervalsMax.toLocaleString("en")} intervals: give ${least} or more, or a shorter range`;
  refuse([invalidArgument("intervalInMinutes", advice)]);
  return [];
}

async function lookUp({ linkId, tag, startDate, endDate }: ScopeRequest, context: Context) {
  const { workspaceId } = callerOf(context);
  const found = await findScope(context.db, workspaceId, linkId || undefined);
  const scope: Scope = {
    workspaceId,
    linkId: linkId || undefined,
    tagKey: tag === "" ? undefined : nameKey(tag),
    from: startDate && wholeMs(startDate, Math.ceil),
    to: endDate && wholeMs(endDate, Math.floor),
  };
  return { scope, timezone: found.timezone, hasLink: linkId === "" || found.hasLink };
}

// Events are kept to the millisecond, and the bounds of a request may be finer.
export function wholeMs({ seconds, nanos }: Timestamp, round: (ms: number) => number): Date {
  return new Date(Number(seconds) * 1000 + round(nanos / 1_000_000));
}
