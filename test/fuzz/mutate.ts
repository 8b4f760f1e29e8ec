import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Random } from "./random.ts";

/** Texts that often cause faults. */
const texts = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202e\u2066",
  "ﷺ".repeat(300),
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "' or 1=1 --",
  "%00%0d%0a",
  "=cmd|'/c calc'!A1",
  "<script>alert(1)</script>",
  "javascript:alert(1)",
  "https://user:pass@[::1]:99999/\\?#",
  "https://xn--\u00fc.example/",
  "null",
  "NaN",
  "-Infinity",
  "1e400",
  "0x10",
  "-0",
  "9223372036854775808",
  "99999999999999999999999999",
  "2026-02-30T25:61:61Z",
  "0000-00-00",
  "+275760-09-13",
  "00000000-0000-0000-0000-000000000000",
  "0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d",
  "a@b",
  "+49 (0) 30 / 1",
  "====",
  "(a+)+$",
  "\\",
  '"',
] as const;

/** Larger texts, of which a request holds few. */
const largeTexts = [
  "9".repeat(150_000),
  "a".repeat(100_000),
  "\\u0000".repeat(10_000),
  "é".repeat(60_000),
  "1.".repeat(50_000),
  " ".repeat(100_000),
  "@".repeat(50_000),
  "-".repeat(50_000),
  "%".repeat(50_000),
] as const;

const values: readonly [JsonValue, ...JsonValue[]] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  2 ** 32,
];
const shapes: readonly [JsonValue, ...JsonValue[]] = [
  {},
  [],
  [[]],
  { "": "" },
  [null],
  [{}],
  { $typeName: "x" },
];

function badValue(random: Random): JsonValue {
  const kind = random.below(100);
  if (kind < 60) return random.pick(texts);
  if (kind < 64) return random.pick(largeTexts);
  if (kind < 80) return random.pick(values);
  if (kind < 90) return random.pick(shapes);
  if (kind < 95) return Array.from({ length: random.below(3000) }, () => random.pick(texts));
  if (kind < 98) return nested(1 + random.below(2000));
  return Object.fromEntries(Array.from({ length: random.below(3000) }, (_, index) => [`key${index}`, "x"]));
}

function nested(depth: number): JsonValue {
  let value: JsonValue = "x";
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** The same JSON with some of its values, names or members changed, at any depth. */
export function changedJson(json: JsonValue, random: Random): JsonValue {
  if (random.percent(15)) return badValue(random);
  if (Array.isArray(json)) return changedList(json, random);
  if (typeof json !== "object" || json === null) return random.percent(50) ? badValue(random) : json;
  return changedObject(json, random);
}

function changedList(list: readonly JsonValue[], random: Random): JsonValue {
  const at = random.below(list.length + 1);
  const item = list[at];
  if (item === undefined || random.percent(20)) return [...list, badValue(random)];
  if (random.percent(20)) return [...list, ...list];
  return list.with(at, changedJson(item, random));
}

function changedObject(json: JsonObject, random: Random): JsonValue {
  const name = random.pick(Object.keys(json));
  const value = name === undefined ? undefined : json[name];
  if (name === undefined || value === undefined || random.percent(10))
    return { ...json, [random.pick(texts)]: badValue(random) };
  const { [name]: _, ...others } = json;
  if (random.percent(10)) return others;
  return { ...others, [name]: changedJson(value, random) };
}

/** The same bytes with one to four changes: replace, remove, repeat or insert a byte, or cut the rest off. */
export function changedBytes(bytes: Uint8Array, random: Random): Buffer {
  let result = Buffer.from(bytes);
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(result.length + 1);
    const [before, after] = [result.subarray(0, at), result.subarray(at)];
    const one = Uint8Array.of(random.below(256));
    const changes: readonly Uint8Array[][] = [
      [before, one, after.subarray(1)],
      [before, after.subarray(1)],
      [before, one, after],
      [before],
      [before, ...Array.from({ length: random.below(200) }, () => after.subarray(0, 16)), after],
    ];
    result = Buffer.concat(random.pick(changes) ?? []);
  }
  return result;
}

/** A text in place of an existing one: a header, a parameter, an answer to a form. */
export function badText(random: Random): string {
  return random.percent(3) ? random.pick(largeTexts).slice(0, 20_000) : random.pick(texts);
}
