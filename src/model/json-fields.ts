/** An object of stored JSON. Its fields are unknown. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** The value when it is an object, else undefined. */
export function asObject(value: unknown): JsonFields | undefined {
  // The check leaves only objects, whose fields are unknown by any name.
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonFields)
    : undefined;
}

/** The value when it is an object, else one without fields. */
export function objectOf(value: unknown): JsonFields {
  return asObject(value) ?? {};
}

/** The items of an array; an item that is no object becomes one without fields. Empty when the value is no array. */
export function objectsOf(value: unknown): JsonFields[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

/** The value when it is a text, else an empty text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
