import type { ClockSetting } from "../model/intervals.ts";
import type { StepAction } from "../model/steps/kinds.ts";

/** Which visits a question is about. Only visits that count are ever meant. */
export interface Scope {
  readonly workspaceId: string;
  /** Only visits of this link, which may be deleted. */
  readonly linkId: string | undefined;
  /** Only visits of links that have the tag with this key. */
  readonly tagKey: string | undefined;
  /** Inclusive, like `to`. Undefined for all visits from the first one on. */
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

/** What a visit can be grouped by. The value of a visit is empty where it is not known. */
export type Dimension = "browser" | "platform" | "deviceType" | "country" | "city" | "visitType";

interface Ranked {
  readonly scope: Scope;
  readonly limit: number;
}

/** Groups come largest first. Equal ones come by value in the order of bytes, the empty value last. */
export interface Groups extends Ranked {
  readonly dimension: Dimension;
}

/** The same over time. `starts` are the beginnings of the intervals, the first one not after the scope's `from`. */
export interface Series extends Groups {
  readonly starts: readonly Date[];
}

/** The workspace's links with the most visits; equal ones come by name and id. Links that are gone have no place. */
export type TopLinks = Ranked;

export interface Intervals {
  readonly scope: Scope;
  readonly starts: readonly Date[];
}

/** Visits by the hour of the day. `clock` says how clocks were set from the scope's `from` to its `to`. */
export interface Hours {
  readonly scope: Scope;
  readonly clock: readonly ClockSetting[];
}

/**
 * Visitors for each interval and for the whole range. A visitor is new where the first visit in the scope, of all times,
 * lies; in every other interval with a visit it returns. Visits without a visitor are told apart by their devices.
 */
export type Visitors = Intervals;

export interface Whole {
  readonly scope: Scope;
}

/** An attribute of the visitors in the scope. Reserved keys have their `$`. */
export interface Attribute {
  readonly scope: Scope;
  readonly key: string;
}

export interface AttributeValues extends Attribute {
  readonly limit: number;
}

export interface Group {
  readonly value: string;
  readonly count: number;
}

export interface GroupCounts {
  /** All visits in the scope, in whatever group. */
  readonly total: number;
  readonly groups: readonly Group[];
}

export interface SeriesCounts {
  readonly total: number;
  readonly series: readonly { readonly value: string; readonly counts: readonly number[] }[];
}

export interface LinkCounts {
  readonly total: number;
  readonly links: readonly { readonly name: string; readonly shortlink: string; readonly count: number }[];
}

export interface VisitorNumbers {
  readonly fresh: number;
  readonly returning: number;
}

export interface VisitorCounts extends VisitorNumbers {
  readonly intervals: readonly VisitorNumbers[];
}

/** What visits did at the steps of one action. */
export interface StepCounts {
  readonly action: StepAction;
  /** Visits that reached such a step. */
  readonly visits: number;
  readonly occurrences: number;
  /** Visits that did what a step asks for. */
  readonly interactions: number;
  /** Visits whose visitor has an e-mail address or a phone number now. */
  readonly identified: number;
  /** The sum, over visits, of the place of the first such step among the steps of the visit, from 1. */
  readonly places: number;
  /** Visits that reached such a step and one of another action. */
  readonly alsoReached: Readonly<Partial<Record<StepAction, number>>>;
  /** What visits could choose at such steps, and how many chose it: most visits first, then by label. */
  readonly choices: readonly Group[];
}

export interface FunnelCounts {
  readonly visits: number;
  /** Visits that reached an exit. */
  readonly completed: number;
  /** In any order. */
  readonly steps: readonly StepCounts[];
}

export interface AttributeNumbers {
  /** Visitors in the scope. */
  readonly audience: number;
  /** How many of them have the attribute, and how many with a number. */
  readonly withValue: number;
  readonly withNumber: number;
  /** Undefined without a number. */
  readonly numbers: { readonly mean: number; readonly least: number; readonly greatest: number } | undefined;
}

export interface GivenValues {
  readonly total: number;
  /** Newest first. As many as fit into an answer. */
  readonly values: readonly { readonly value: string; readonly at: Date }[];
}

/** The most frequent known value, and how many there are. Of equally frequent values it is the most recent one. */
export interface Leading {
  readonly top: string;
  readonly values: number;
}

export interface Summary {
  readonly total: number;
  readonly firstAt: Date | undefined;
  readonly lastAt: Date | undefined;
  readonly scored: number;
  readonly scoreSum: number;
  readonly country: Leading;
  readonly city: Leading;
  readonly deviceType: Leading;
}

interface Kinds {
  readonly groups: readonly [Groups, GroupCounts];
  readonly series: readonly [Series, SeriesCounts];
  readonly topLinks: readonly [TopLinks, LinkCounts];
  readonly intervals: readonly [Intervals, readonly number[]];
  readonly hours: readonly [Hours, readonly number[]];
  readonly visitors: readonly [Visitors, VisitorCounts];
  readonly funnel: readonly [Whole, FunnelCounts];
  readonly attribute: readonly [Attribute, AttributeNumbers];
  readonly attributeGroups: readonly [AttributeValues, GroupCounts];
  readonly attributeValues: readonly [AttributeValues, GivenValues];
  readonly summary: readonly [Whole, Summary];
}

export type Kind = keyof Kinds;
export type QuestionOf<K extends Kind> = Kinds[K][0];
export type AnswerOf<K extends Kind> = Kinds[K][1];
