import { objectOf, objectsOf, textOf } from "../json-fields.ts";
import { bare, oneOf } from "../steps/reading.ts";

/** What a step saves to the visitor; there is at least one attribute. */
export interface AttributeCapture {
  readonly attributes: readonly CapturedAttribute[];
  /** Fills empty attributes only. */
  readonly setOnce: boolean;
}

export interface CapturedAttribute {
  readonly key: string;
  readonly source: (typeof captureSources)[number];
  /** For MILESTONE what to save, for LINK_CONTEXT which piece of the link, for CHOICE empty. */
  readonly value: string;
  readonly type: AttributeType;
}

const captureSources = ["CHOICE", "MILESTONE", "LINK_CONTEXT"] as const;

export type AttributeType = (typeof attributeTypes)[number];

const attributeTypes = ["STRING", "NUMBER", "BOOLEAN", "DATE", "ENUM"] as const;

/** Reads a stored AttributeCapture; undefined when there is nothing to capture. What is broken in it is left out. */
export function readAttributeCapture(stored: unknown): AttributeCapture | undefined {
  const fields = objectOf(stored);
  const attributes = objectsOf(fields.attributes).flatMap((attribute): CapturedAttribute[] => {
    const source = oneOf(bare(attribute.source, "ATTRIBUTE_CAPTURE_SOURCE_"), captureSources);
    const key = textOf(attribute.key);
    if (source === undefined || key === "") return [];
    const type = oneOf(bare(attribute.type, "VISITOR_ATTRIBUTE_TYPE_"), attributeTypes) ?? "STRING";
    return [{ key, source, value: textOf(attribute.value), type }];
  });
  return attributes.length === 0 ? undefined : { attributes, setOnce: fields.setOnce === true };
}
