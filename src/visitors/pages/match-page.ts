import {
  type AttributeOperator,
  matchesAttribute,
  type StoredAttribute,
} from "../../model/visitors/attribute-operators.ts";
import type { PageColumns } from "./page-cache.ts";
import { columnNames, type Entries, type Texts } from "./page-format.ts";
import { folded, type Profile, searchedText } from "./profile.ts";

/** A question about one attribute, without faults. */
export interface AttributeQuestion {
  /** Reserved keys begin with `$`. */
  readonly key: string;
  readonly operator: AttributeOperator;
  readonly wanted: string;
}

/** Which visitors are wanted: those who match everything that is asked. */
export interface Wanted {
  readonly questions: readonly AttributeQuestion[];
  /** Text that a visitor must contain, in any case. Undefined for any visitor. */
  readonly search: string | undefined;
  /** A link that a visitor must have visited. */
  readonly linkId: string | undefined;
  /** The workspace's time zone, in which dates are compared. */
  readonly timezone: string;
}

/** The columns that tell who is wanted. */
export function columnsFor({ questions, search, linkId }: Wanted): string[] {
  return [
    ...new Set(questions.map(({ key }) => columnNames.attribute(key))),
    ...(search === undefined ? [] : [columnNames.text]),
    ...(linkId === undefined ? [] : [columnNames.links]),
  ];
}

/** Marks the visitors of a page who match everything with 1, by their places. */
export function matchPage(count: number, wanted: Wanted, columns: PageColumns): Uint8Array {
  const matched = new Uint8Array(count).fill(1);
  if (wanted.linkId !== undefined) {
    const { linkId } = wanted;
    keep(matched, columns.get(columnNames.links)?.links, false, (link) => link === linkId);
  }
  for (const { key, operator, wanted: value } of wanted.questions) {
    const matches = (stored: StoredAttribute | undefined) =>
      matchesAttribute(operator, stored, value, wanted.timezone);
    keep(matched, columns.get(columnNames.attribute(key))?.attribute, matches(undefined), matches);
  }
  if (wanted.search !== undefined)
    keepContaining(matched, columns.get(columnNames.text)?.texts, folded(wanted.search));
  return matched;
}

/**
 * Keeps the visitors who match by one of their entries, or by having none when `isAbsentMatched`. Each value is judged
 * once, and only if somebody who is still wanted has it.
 */
function keep<Value>(
  matched: Uint8Array,
  entries: Entries<Value> | undefined,
  isAbsentMatched: boolean,
  matches: (value: Value) => boolean,
): void {
  if (entries === undefined) {
    if (!isAbsentMatched) matched.fill(0);
    return;
  }
  const { values, places, codes } = entries;
  const judged = new Int8Array(values.length).fill(-1);
  const judge = (code: number): number => {
    const value = values[code];
    const verdict = value !== undefined && matches(value) ? 1 : 0;
    judged[code] = verdict;
    return verdict;
  };
  const kept = isAbsentMatched ? undefined : new Uint8Array(matched.length);
  for (let index = 0; index < places.length; index++) {
    const place = places[index] ?? 0;
    if (matched[place] !== 1) continue;
    const code = codes[index] ?? 0;
    let verdict = judged[code] ?? 0;
    if (verdict === -1) verdict = judge(code);
    if (kept === undefined) matched[place] = verdict;
    else if (verdict === 1) kept[place] = 1;
  }
  if (kept !== undefined) matched.set(kept);
}

/** Each text is looked through once, and after a find the search goes on with the next visitor's. */
function keepContaining(matched: Uint8Array, texts: Texts | undefined, search: string): void {
  const sought = Buffer.from(search);
  let place = 0;
  let at = texts === undefined || isBetweenTexts(search) ? -1 : texts.bytes.indexOf(sought);
  while (texts !== undefined && at !== -1) {
    const owner = ownerOf(texts.starts, place, at);
    matched.fill(0, place, owner);
    place = owner + 1;
    at = texts.bytes.indexOf(sought, texts.starts[place] ?? 0);
  }
  matched.fill(0, place);
}

/** No text contains the character between texts. */
function isBetweenTexts(search: string): boolean {
  return search.includes("\0");
}

/** The place of the visitor who has the byte: the last one, from `low` on, whose text starts at or before it. */
function ownerOf(starts: Uint32Array, low: number, at: number): number {
  let high = starts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Whether one visitor matches everything. */
export function matchesProfile(profile: Profile, { questions, search, linkId, timezone }: Wanted): boolean {
  if (linkId !== undefined && !profile.links.includes(linkId)) return false;
  if (search !== undefined && (isBetweenTexts(search) || !searchedText(profile).includes(folded(search))))
    return false;
  return questions.every(({ key, operator, wanted }) =>
    matchesAttribute(operator, profile.attributes.get(key), wanted, timezone),
  );
}
