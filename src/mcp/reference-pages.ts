import { readFile } from "node:fs/promises";

/** The text of one type, and the types that its fields name. */
interface TypeText {
  readonly text: string;
  readonly named: readonly string[];
}

/** The generated reference: its parts, and the texts that pages of types are made of. */
interface Reference {
  readonly index: string;
  readonly groups: Readonly<Record<string, string>>;
  readonly types: Readonly<Record<string, TypeText>>;
}

/** A page has at most this many characters, so that a model can hold it. */
const pageMax = 16_000;

/** What stays free in a page for the addresses of the types that have no room. */
const leftMax = 2_000;

let reading: Promise<Reference> | undefined;

/** Reads the generated reference, with the first use. */
function reference(): Promise<Reference> {
  reading ??= readFile(new URL("../../gen/reference.json", import.meta.url), "utf8").then(
    // The generator writes exactly this.
    (text): Reference => JSON.parse(text),
  );
  return reading;
}

/** The groups of operations, and where their pages are. */
export async function indexPage(): Promise<string> {
  return (await reference()).index;
}

/** The operations of a group; undefined when there is no such group. */
export async function groupPage(group: string): Promise<string | undefined> {
  const { groups } = await reference();
  return Object.hasOwn(groups, group) ? groups[group] : undefined;
}

/** One type and, as far as there is room, the types of its fields; undefined when there is no such type. */
export async function typePage(name: string): Promise<string | undefined> {
  const { types } = await reference();
  if (!Object.hasOwn(types, name)) return undefined;
  const told = new Set([name]);
  const parts: string[] = [];
  let length = 0;
  // The set grows while it is walked, so that the nearest types come first.
  for (const each of told) {
    const { text = "", named = [] } = types[each] ?? {};
    length += text.length + 2;
    if (length > pageMax - leftMax) break;
    parts.push(text);
    for (const other of named) told.add(other);
  }
  const left = [...told].slice(parts.length).map((other) => `signpost://api/types/${other}`);
  if (left.length > 0) parts.push(`Further types: ${left.join(", ")}`);
  return parts.join("\n\n").slice(0, pageMax);
}
