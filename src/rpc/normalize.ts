import { type DescField, type DescMessage, getOption, type Message, ScalarType } from "@bufbuild/protobuf";
import { DurationSchema, FieldMaskSchema, StructSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { verbatim } from "../../gen/signpost/options/v1/handling_pb.js";
import type { FieldViolation } from "../lib/errors.ts";
import { type FieldPath, fieldPath } from "../wire/field-path.ts";

/**
 * Brings the texts of a request to one form, in place: trimmed, NFC, lines ended by a line feed. Answers what cannot be
 * brought to it, control characters and broken Unicode, and times outside of what any calendar here knows.
 */
export function normalizeTexts(message: Message, desc: DescMessage): FieldViolation[] {
  const violations: FieldViolation[] = [];
  // Messages are objects of their fields; the plan follows the descriptor, so it reads only what is there.
  planOf(desc)(message as unknown as Values, [], violations);
  return violations;
}

/** A message, or the object of a map: what generated code keeps values in. */
type Values = Record<string, unknown>;

/** Where the walk stands, as a stack. */
type Place = FieldPath[number][];

/** Works on the fields of a message. */
type Visit = (message: Values, place: Place, violations: FieldViolation[]) => void;

/** Gives the value to keep instead. */
type Change = (value: unknown, place: Place, violations: FieldViolation[]) => unknown;

/** Goes one step down for the time of one change. */
function at(step: FieldPath[number], change: Change): Change {
  return (value, place, violations) => {
    place.push(step);
    const changed = change(value, place, violations);
    place.pop();
    return changed;
  };
}

const plans = new WeakMap<DescMessage, Visit>();

/** The visitor of a message type, built once; recursive types find themselves in the map. */
function planOf(desc: DescMessage): Visit {
  const known = plans.get(desc);
  if (known !== undefined) return known;
  let steps: readonly Visit[] = [];
  const visit: Visit = (message, place, violations) => {
    for (const step of steps) step(message, place, violations);
  };
  plans.set(desc, visit);
  const check = timeChecks.get(desc.typeName);
  steps = check ? [check] : desc.typeName === FieldMaskSchema.typeName ? [] : desc.fields.flatMap(stepOf);
  return visit;
}

function stepOf(field: DescField): Visit[] {
  const changeValue = changeOf(field);
  if (changeValue === undefined) return [];
  const change = at(field, changeValue);
  const name = field.localName;
  if (field.oneof !== undefined) {
    const group = field.oneof.localName;
    return [
      (message, place, violations) => {
        // Generated code keeps every oneof as such an object.
        const choice = message[group] as { case?: string; value?: unknown };
        if (choice.case === name) choice.value = change(choice.value, place, violations);
      },
    ];
  }
  return [
    (message, place, violations) => {
      const value = message[name];
      // Most fields of most requests are empty.
      if (value !== undefined && value !== "") message[name] = change(value, place, violations);
    },
  ];
}

/** Undefined for fields that hold no text and no time. */
function changeOf(field: DescField): Change | undefined {
  const one = changeOfOne(field);
  if (field.fieldKind === "list") {
    if (one === undefined) return undefined;
    return (list, place, violations) =>
      Array.isArray(list) ? list.map((item, index) => at(index, one)(item, place, violations)) : list;
  }
  if (field.fieldKind !== "map") return one;
  const changeKey = field.mapKey === ScalarType.STRING ? changeText : undefined;
  if (one === undefined && changeKey === undefined) return undefined;
  return (map, place, violations) => {
    const entries = Object.entries(map as Values).map(([key, value]) => [
      changeKey ? at({ key }, changeKey)(key, place, violations) : key,
      one ? at({ key }, one)(value, place, violations) : value,
    ]);
    // Own properties whatever their names are, `__proto__` among them.
    return Object.fromEntries(entries);
  };
}

function changeOfOne(field: DescField): Change | undefined {
  const { message, scalar } = field;
  // Generated code keeps a Struct as the plain JSON object that it stands for.
  if (message?.typeName === StructSchema.typeName) return changeJson;
  if (message !== undefined) {
    const visit = planOf(message);
    return (value, place, violations) => {
      if (typeof value === "object" && value !== null) visit(value as Values, place, violations);
      return value;
    };
  }
  if (scalar !== ScalarType.STRING) return undefined;
  return getOption(field, verbatim) ? changeVerbatim : changeText;
}

const changeText: Change = (value, place, violations) => {
  if (typeof value !== "string") return value;
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(value)) return value;
  const text = value.trim().normalize("NFC").replaceAll("\r\n", "\n");
  const fault = faultOf(text);
  if (fault !== undefined) violations.push({ field: fieldPath(place), description: fault });
  return text;
};

/** Texts and keys at any depth; own properties whatever their names are. */
const changeJson: Change = (value, place, violations) => {
  if (Array.isArray(value)) return value.map((item, index) => at(index, changeJson)(item, place, violations));
  if (typeof value !== "object" || value === null) return changeText(value, place, violations);
  const entries = Object.entries(value).map(([key, item]) => [
    at({ key }, changeText)(key, place, violations),
    at({ key }, changeJson)(item, place, violations),
  ]);
  return Object.fromEntries(entries);
};

const changeVerbatim: Change = (value, place, violations) => {
  if (typeof value === "string" && (value.includes("\0") || !value.isWellFormed())) {
    violations.push({ field: fieldPath(place), description: "must be Unicode text without NUL" });
  }
  return value;
};

function faultOf(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
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

const timeChecks = new Map<string, Visit>([
  [
    TimestampSchema.typeName,
    (time, place, violations) => {
      const { seconds, nanos } = time as { seconds: bigint; nanos: number };
      const isTime =
        seconds >= timestampSeconds.min &&
        seconds <= timestampSeconds.max &&
        nanos >= 0 &&
        nanos <= 999_999_999;
      if (!isTime)
        violations.push({ field: fieldPath(place), description: "must be a time in the years 1 to 9999" });
    },
  ],
  [
    DurationSchema.typeName,
    (duration, place, violations) => {
      const { seconds, nanos } = duration as { seconds: bigint; nanos: number };
      const isLength =
        seconds <= durationSecondsMax &&
        seconds >= -durationSecondsMax &&
        Math.abs(nanos) <= 999_999_999 &&
        (seconds === 0n || nanos === 0 || seconds > 0n === nanos > 0);
      if (!isLength)
        violations.push({
          field: fieldPath(place),
          description: "must be a duration of at most 10,000 years",
        });
    },
  ],
]);
