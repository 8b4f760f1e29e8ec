import type { DescField } from "@bufbuild/protobuf";

/** Fields, list indexes and map keys from the request message down to a value. */
export type FieldPath = readonly (DescField | number | { readonly key: string })[];

/** How many characters of a key a path shows; no allowed key is longer. */
const keyLengthMax = 200;

/**
 * How many characters of a path are shown: a deep object with long keys would otherwise make the path as long as
 * itself.
 */
export const pathLengthMax = 1_000;

/** The path in JSON names: `links[3].destination`, `metadata.color`, `metadata["two words"]`. */
export function fieldPath(path: FieldPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if ("key" in step) text += keyStep(step.key);
    else text += text === "" ? step.jsonName : `.${step.jsonName}`;
  }
  return text.slice(0, pathLengthMax);
}

/** Writes the step to a map's key, cut when the key is long. */
export function keyStep(key: string): string {
  const shown = key.slice(0, keyLengthMax);
  return /^[A-Za-z_]\w*$/.test(shown) ? `.${shown}` : `[${JSON.stringify(shown)}]`;
}
