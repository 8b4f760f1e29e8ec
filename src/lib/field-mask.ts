/**
 * The fields that a change names: those of its mask, wholly or in part, or all for `*`, or without a mask those with a value.
 * `values` holds every changeable field under its name in the mask. The pipeline has refused names of no field.
 */
export function fieldsToChange<Field extends string>(
  values: Readonly<Record<Field, unknown>>,
  paths: readonly string[] = [],
): ReadonlySet<Field> {
  const isField = (path: string): path is Field => Object.hasOwn(values, path);
  const fields = Object.keys(values).filter(isField);
  if (paths.includes("*")) return new Set(fields);
  if (paths.length > 0) return new Set(paths.map(fieldOf).filter(isField));
  return new Set(fields.filter((field) => holdsSomething(values[field])));
}

/** Whether a change may name the field: one without a mask, or with `*`, may name any. */
export function mayChange(mask: { readonly paths: readonly string[] } | undefined, field: string): boolean {
  const paths = mask?.paths ?? [];
  return paths.length === 0 || paths.some((path) => path === "*" || fieldOf(path) === field);
}

/** The field that a path of a mask names, or that it names a part of. */
export function fieldOf(path: string): string {
  const end = path.indexOf(".");
  return end === -1 ? path : path.slice(0, end);
}

function holdsSomething(value: unknown): boolean {
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}
