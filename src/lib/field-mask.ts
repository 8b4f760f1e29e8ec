import { invalid } from "./errors.ts";

/**
 * The fields that a change names: those of its mask, or all for `*`, or without a mask those with a value. `values`
 * holds every changeable field under its name in the mask; names in `others` are allowed and change nothing. Throws
 * INVALID_ARGUMENT for any other name, such as a field that only the service writes, or a part of a field: fields are
 * replaced whole.
 */
export function fieldsToChange<Field extends string>(
  values: Readonly<Record<Field, unknown>>,
  paths: readonly string[] = [],
  others: readonly string[] = [],
): ReadonlySet<Field> {
  const isField = (path: string): path is Field => Object.hasOwn(values, path);
  if (paths.includes("*")) return new Set(Object.keys(values).filter(isField));
  const nested = paths.find((path) => path.includes(".") && isField(path.slice(0, path.indexOf("."))));
  if (nested !== undefined) {
    const whole = nested.slice(0, nested.indexOf("."));
    throw invalid([
      {
        field: "updateMask",
        description: `names ${nested}, a part of ${whole}: name ${whole} and send it whole`,
      },
    ]);
  }
  const unknown = paths.filter((path) => !isField(path) && !others.includes(path) && path !== "update_mask");
  if (unknown.length > 0)
    throw invalid([{ field: "updateMask", description: `names ${unknown.join()}, which no update changes` }]);
  if (paths.length > 0) return new Set(paths.filter(isField));
  return new Set(
    Object.keys(values)
      .filter(isField)
      .filter((field) => holdsSomething(values[field])),
  );
}

/** Whether a change may name the field: a change without a mask, or with `*`, may name any. */
export function mayChange(mask: { readonly paths: readonly string[] } | undefined, field: string): boolean {
  const paths = mask?.paths ?? [];
  return paths.length === 0 || paths.includes("*") || paths.includes(field);
}

function holdsSomething(value: unknown): boolean {
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}
