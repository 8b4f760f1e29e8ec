import { objectOf, objectsOf, textOf } from "../json-fields.ts";
import { bare, oneOf } from "../steps/reading.ts";

/** What a step saves to the visitor. There is at least one write. */
export type AttributeCapture = readonly AttributeWrite[];

export interface AttributeWrite {
  readonly key: string;
  readonly value: Template;
  readonly type: AttributeType;
  /** Whether the first value is kept. */
  readonly setOnce: boolean;
}

/** The pieces of a template, joined in this order: texts, and pieces that are known only when the step completes. */
export type Template = readonly TemplatePiece[];

export type TemplatePiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "now" | "link.name" | "choice.label" | "choice.id" }
  | { readonly kind: "link.metadata"; readonly key: string };

export type AttributeType = (typeof attributeTypes)[number];

const attributeTypes = ["STRING", "NUMBER", "BOOLEAN", "DATE", "ENUM"] as const;

/** How many bytes of a filled template are kept. The rest is cut. */
export const capturedBytesMax = 4_096;

/** Reads a stored AttributeCapture. Undefined when there is nothing to capture. Broken writes are left out. */
export function readAttributeCapture(stored: unknown): AttributeCapture | undefined {
  const { enabled, writes } = objectOf(stored);
  if (enabled !== true) return undefined;
  const readable = objectsOf(writes).flatMap((write): AttributeWrite[] => {
    const key = textOf(write.key);
    const { template, unknown } = parseTemplate(textOf(write.value));
    if (key === "" || template.length === 0 || unknown.length > 0) return [];
    const type = oneOf(bare(write.type, "VISITOR_ATTRIBUTE_TYPE_"), attributeTypes) ?? "STRING";
    const setOnce = bare(write.mode, "ATTRIBUTE_WRITE_MODE_") === "SET_ONCE";
    return [{ key, value: template, type, setOnce }];
  });
  return readable.length === 0 ? undefined : readable;
}

/** A template, and the `{{…}}` in it that have no meaning. */
export interface ParsedTemplate {
  readonly template: Template;
  readonly unknown: readonly string[];
}

const metadataPrefix = "link.metadata.";

/** Parses a template, reading every character once. A `{{` that nothing closes is text. */
export function parseTemplate(value: string): ParsedTemplate {
  const template: TemplatePiece[] = [];
  const unknown: string[] = [];
  let place = 0;
  while (place < value.length) {
    const begin = value.indexOf("{{", place);
    const end = begin < 0 ? -1 : value.indexOf("}}", begin + 2);
    const textEnd = end < 0 ? value.length : begin;
    if (textEnd > place) template.push({ kind: "text", text: value.slice(place, textEnd) });
    if (end < 0) break;
    const name = value.slice(begin + 2, end);
    const piece = pieceNamed(name);
    if (piece === undefined) unknown.push(`{{${name}}}`);
    else template.push(piece);
    place = end + 2;
  }
  return { template, unknown };
}

function pieceNamed(name: string): TemplatePiece | undefined {
  switch (name) {
    case "now":
    case "link.name":
    case "choice.label":
    case "choice.id":
      return { kind: name };
    default: {
      const key = name.startsWith(metadataPrefix) ? name.slice(metadataPrefix.length) : "";
      return key === "" ? undefined : { kind: "link.metadata", key };
    }
  }
}

/** Whether a template names the button that was pressed. */
export function asksForChoice(template: Template): boolean {
  return template.some(({ kind }) => kind === "choice.label" || kind === "choice.id");
}
