import { objectOf, objectsOf, textOf } from "../json-fields.ts";
import { bare, oneOf } from "../steps/reading.ts";

/** What a step saves to the visitor; there is at least one write. */
export type AttributeCapture = readonly AttributeWrite[];

export interface AttributeWrite {
  readonly key: string;
  readonly value: Template;
  readonly type: AttributeType;
  /** Keeps the first value. */
  readonly setOnce: boolean;
}

/** Texts, and what stands for a text that is known only when the step completes; joined in this order. */
export type Template = readonly TemplatePiece[];

export type TemplatePiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "now" | "link.name" | "choice.label" | "choice.id" }
  | { readonly kind: "link.metadata"; readonly key: string };

export type AttributeType = (typeof attributeTypes)[number];

const attributeTypes = ["STRING", "NUMBER", "BOOLEAN", "DATE", "ENUM"] as const;

/** What more than this comes of a template is cut, in bytes. */
export const capturedBytesMax = 4_096;

/** Reads a stored AttributeCapture; undefined when there is nothing to capture. What is broken in it is left out. */
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

/** A template, and the `{{…}}` in it that stand for nothing known. */
export interface ParsedTemplate {
  readonly template: Template;
  readonly unknown: readonly string[];
}

const metadataPrefix = "link.metadata.";

/** Reads every character once. A `{{` that nothing closes is text. */
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

/** Whether a template speaks of the button that was pressed. */
export function asksForChoice(template: Template): boolean {
  return template.some(({ kind }) => kind === "choice.label" || kind === "choice.id");
}
