import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { DataSource } from "./data-sources.ts";

/** A field that leads on to further fields: a message, or a list of messages. */
type Step = DescField & { readonly message: DescMessage };

/** Where the rows stand in the answer of a data source. */
export interface RowShape {
  /** The fields from the answer's message to the rows. */
  readonly steps: readonly Step[];
  /** The row's message, then those that hold it, from the inside to the answer. */
  readonly holders: readonly DescMessage[];
}

/** The kind of a single value in a row. */
export type ValueKind = "text" | "number" | "time";

/** A single value of a row, or of the element that holds the row. */
export interface RowField {
  readonly field: DescField;
  readonly kind: ValueKind;
  /** How many elements lie between: 0 for a field of the row. */
  readonly level: number;
}

/**
 * Follows a path of field names through the descriptor of a data source's answer, through lists, too: the rows are then the
 * elements of all inner lists. Gives the words of a refusal for a path that leads to no rows.
 */
export function rowShapeOf(source: DataSource, path: string): RowShape | string {
  const { answerField, answer } = source;
  const steps: Step[] = answerField?.message ? [answerField as Step] : [];
  let holders: readonly DescMessage[] = [answer];
  for (const [index, name] of path === "" ? [] : path.split(".").entries()) {
    const [holder = answer] = holders;
    const field = fieldOf(holder, name);
    if (field === undefined)
      return `leads nowhere at its part ${index + 1}: use one of ${pathsOf(holder).join(", ") || "no more parts"}`;
    if (!isStep(field))
      return `leads to a single value at its part ${index + 1}: end it before, and name the value in fieldMappings`;
    steps.push(field);
    holders = [field.message, ...holders];
  }
  return { steps, holders };
}

function fieldOf({ fields }: DescMessage, name: string): DescField | undefined {
  return fields.find((field) => field.jsonName === name || field.name === name);
}

function isStep(field: DescField): field is Step {
  if (field.fieldKind !== "message" && field.fieldKind !== "list") return false;
  return field.message !== undefined && !field.message.typeName.startsWith("google.protobuf.");
}

function pathsOf({ fields }: DescMessage): string[] {
  return fields.filter(isStep).map(({ jsonName }) => jsonName);
}

/** A value of a row by its name: of the row itself, or else of the nearest element that holds it. */
export function rowFieldNamed({ holders }: RowShape, name: string): RowField | undefined {
  for (const [level, holder] of holders.entries()) {
    const field = fieldOf(holder, name);
    const kind = field && kindOf(field);
    if (field !== undefined && kind !== undefined) return { field, kind, level };
  }
  return undefined;
}

/** All values of a row, its own first. */
export function rowFields({ holders }: RowShape): RowField[] {
  return holders.flatMap(({ fields }, level) =>
    fields.flatMap((field) => {
      const kind = kindOf(field);
      return kind === undefined ? [] : [{ field, kind, level }];
    }),
  );
}

function kindOf(field: DescField): ValueKind | undefined {
  if (field.fieldKind === "enum") return "text";
  if (field.fieldKind === "message")
    return field.message.typeName === TimestampSchema.typeName ? "time" : undefined;
  if (field.fieldKind !== "scalar" || field.scalar === ScalarType.BYTES) return undefined;
  return field.scalar === ScalarType.STRING || field.scalar === ScalarType.BOOL ? "text" : "number";
}
