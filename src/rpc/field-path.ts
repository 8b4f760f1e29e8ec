import type { DescField } from "@bufbuild/protobuf";

/** Fields, list indexes and map keys from the request message down to a value. */
export type FieldPath = readonly (DescField | number | { readonly key: string })[];

/** The path in JSON names: `links[3].destination`, `metadata.color`, `metadata["two words"]`. */
export function fieldPath(path: FieldPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!("key" in step)) text += text === "" ? step.jsonName : `.${step.jsonName}`;
    else
      text += /^[A-Za-z_]\w*$/.test(step.key) ? `.${step.key}` : `[${JSON.stringify(step.key.slice(0, 64))}]`;
  }
  return text;
}
