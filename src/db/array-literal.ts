/**
 * PostgreSQL array literals for `unnest`. They are several times cheaper than the driver's, which looks at every
 * element's type: a batch has tens of thousands of elements.
 */

/** A literal of elements that need no quotes: ids, enum values, numbers and booleans. Empty strings become NULL. */
export function plainArray(values: readonly (string | number | boolean)[]): string {
  const elements = values.includes("") ? values.map((value) => (value === "" ? "NULL" : value)) : values;
  return `{${elements.join()}}`;
}

/** A literal of any texts without NUL. */
export function textArray(values: readonly string[]): string {
  if (values.length === 0) return "{}";
  const escaped = values.map((value) => {
    const plain = value.includes("\\") ? value.replaceAll("\\", "\\\\") : value;
    return plain.includes('"') ? plain.replaceAll('"', '\\"') : plain;
  });
  return `{"${escaped.join('","')}"}`;
}

/** A literal of bytes in hexadecimal. Empty strings become NULL. */
export function bytesArray(values: readonly string[]): string {
  return `{${values.map((value) => (value === "" ? "NULL" : `"\\\\x${value}"`)).join()}}`;
}
