import { type DescField, type DescMessage, getOption, type Message, ScalarType } from "@bufbuild/protobuf";
import { DurationSchema, FieldMaskSchema, StructSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { verbatim } from "../../../gen/signpost/options/v1/handling_pb.js";
import { stacksMarks } from "../../lib/compose.ts";
import type { FieldViolation } from "../../lib/errors.ts";
import { type FieldPath, fieldPath } from "../../wire/field-path.ts";
import { violationsMax } from "../../wire/reading.ts";

/** The result of a walk through a request. */
export interface Normalized {
  /**
   * The texts and times that cannot be normalized: control characters, broken Unicode, times outside of the calendar.
   */
  readonly violations: readonly FieldViolation[];
  /** How many elements the request's lists and maps of texts or messages have. */
  readonly elements: number;
}

/** Normalizes the texts of a request in place: trims them, brings them to NFC, and ends lines with a line feed. */
export function normalizeTexts(message: Message, desc: DescMessage): Normalized {
  const walk: NormalizeState = { place: [], violations: [], elements: 0 };
  // Messages are objects of their fields. The plan follows the descriptor, so it reads only existing fields.
  normalizerOf(desc)(message as unknown as Values, walk);
  return walk;
}

/** A message, or the object of a map: what generated code keeps values in. */
type Values = Record<string, unknown>;

interface NormalizeState {
  /** The path of the current value, as a stack. */
  readonly place: FieldPath[number][];
  readonly violations: FieldViolation[];
  elements: number;
}

/** Works on the fields of a message. */
type Normalizer = (message: Values, walk: NormalizeState) => void;

/** Returns the value to keep instead. */
type Change = (value: unknown, walk: NormalizeState) => unknown;

function noteViolation({ place, violations }: NormalizeState, description: string): void {
  if (violations.length < violationsMax) violations.push({ field: fieldPath(place), description });
}

/** Adds one step to the path for the time of one change. */
function at(step: FieldPath[number], change: Change): Change {
  return (value, walk) => {
    walk.place.push(step);
    const changed = change(value, walk);
    walk.place.pop();
    return changed;
  };
}

const normalizers = new WeakMap<DescMessage, Normalizer>();

/** Builds the visitor of a message type once; a recursive type finds its own visitor in the map. */
function normalizerOf(desc: DescMessage): Normalizer {
  const known = normalizers.get(desc);
  if (known !== undefined) return known;
  let steps: readonly Normalizer[] = [];
  const normalize: Normalizer = (message, walk) => {
    for (const step of steps) step(message, walk);
  };
  normalizers.set(desc, normalize);
  const check = timeChecks.get(desc.typeName);
  steps = check ? [check] : desc.typeName === FieldMaskSchema.typeName ? [] : desc.fields.flatMap(stepOf);
  return normalize;
}

function stepOf(field: DescField): Normalizer[] {
  const changeValue = changeOf(field);
  if (changeValue === undefined) return [];
  const change = at(field, changeValue);
  const name = field.localName;
  if (field.oneof !== undefined) {
    const group = field.oneof.localName;
    return [
      (message, walk) => {
        // Generated code keeps every oneof as such an object.
        const choice = message[group] as { case?: string; value?: unknown };
        if (choice.case === name) choice.value = change(choice.value, walk);
      },
    ];
  }
  return [
    (message, walk) => {
      const value = message[name];
      // Most fields of most requests are empty.
      if (value !== undefined && value !== "") message[name] = change(value, walk);
    },
  ];
}

/** How to change the values of a field; undefined for fields that hold no text and no time. */
function changeOf(field: DescField): Change | undefined {
  const one = changeOfOne(field);
  if (field.fieldKind === "list") {
    if (one === undefined) return undefined;
    return (list, walk) => (Array.isArray(list) ? changeItems(list, one, walk) : list);
  }
  if (field.fieldKind !== "map") return one;
  const changeKey = field.mapKey === ScalarType.STRING ? changeText : undefined;
  if (one === undefined && changeKey === undefined) return undefined;
  return (map, walk) => {
    const entries = Object.entries(map as Values).map(([key, value]) => [
      changeKey ? at({ key }, changeKey)(key, walk) : key,
      one ? at({ key }, one)(value, walk) : value,
    ]);
    walk.elements += entries.length;
    // fromEntries defines own properties whatever the keys are, even `__proto__`.
    return Object.fromEntries(entries);
  };
}

function changeOfOne(field: DescField): Change | undefined {
  const { message, scalar } = field;
  // Generated code keeps a Struct as the plain JSON object that it stands for.
  if (message?.typeName === StructSchema.typeName) return changeJson;
  if (message !== undefined) {
    const visit = normalizerOf(message);
    return (value, walk) => {
      if (typeof value === "object" && value !== null) visit(value as Values, walk);
      return value;
    };
  }
  if (scalar !== ScalarType.STRING) return undefined;
  return getOption(field, verbatim) ? changeVerbatim : changeText;
}

/** Changes the items of a list in place. */
function changeItems(items: readonly unknown[], change: Change, walk: NormalizeState): unknown[] {
  walk.elements += items.length;
  return items.map((item, index) => {
    walk.place.push(index);
    const value = change(item, walk);
    walk.place.pop();
    return value;
  });
}

const changeText: Change = (value, walk) => {
  if (typeof value !== "string") return value;
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(value)) return value;
  if (stacksMarks(value)) {
    noteViolation(walk, "must not stack more than 30 combining marks on one letter");
    return value;
  }
  const text = value.trim().normalize("NFC").replaceAll("\r\n", "\n");
  const fault = faultOf(text);
  if (fault !== undefined) noteViolation(walk, fault);
  return text;
};

/** Changes texts and keys at any depth; keys become own properties whatever they are. */
const changeJson: Change = (value, walk) => {
  if (Array.isArray(value)) return changeItems(value, changeJson, walk);
  if (typeof value !== "object" || value === null) return changeText(value, walk);
  const entries = Object.entries(value).map(([key, item]) => [
    at({ key }, changeText)(key, walk),
    at({ key }, changeJson)(item, walk),
  ]);
  walk.elements += entries.length;
  return Object.fromEntries(entries);
};

const changeVerbatim: Change = (value, walk) => {
  if (typeof value === "string" && (value.includes("\0") || !value.isWellFormed()))
    noteViolation(walk, "must be Unicode text without NUL");
  return value;
};

function faultOf(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them.
  const control = /[\0-\x08\x0b-\x1f\x7f-\x9f]/.exec(text)?.[0];
  if (control !== undefined) {
    const code = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `must not contain control characters other than line feed and tab; remove U+${code}`;
  }
  return text.isWellFormed() ? undefined : "must be well-formed Unicode; a surrogate stands alone";
}

/** 0001-01-01 to 9999-12-31 in seconds of the Unix epoch (google/protobuf/timestamp.proto). */
const timestampSeconds = { min: -62_135_596_800n, max: 253_402_300_799n };

/** 10,000 years in seconds (google/protobuf/duration.proto). */
const durationSecondsMax = 315_576_000_000n;

const timeChecks = new Map<string, Normalizer>([
  [
    TimestampSchema.typeName,
    (time, walk) => {
      const { seconds, nanos } = time as { seconds: bigint; nanos: number };
      const isTime =
        seconds >= timestampSeconds.min &&
        seconds <= timestampSeconds.max &&
        nanos >= 0 &&
        nanos <= 999_999_999;
      if (!isTime) noteViolation(walk, "must be a time in the years 1 to 9999");
    },
  ],
  [
    DurationSchema.typeName,
    (duration, walk) => {
      const { seconds, nanos } = duration as { seconds: bigint; nanos: number };
      const isLength =
        seconds <= durationSecondsMax &&
        seconds >= -durationSecondsMax &&
        Math.abs(nanos) <= 999_999_999 &&
        (seconds === 0n || nanos === 0 || seconds > 0n === nanos > 0);
      if (!isLength) noteViolation(walk, "must be a duration of at most 10,000 years");
    },
  ],
]);
