/**
 * The part of JSON Schema 2020-12, the dialect of OpenAPI 3.1, that our documents use. Keys are written in the order
 * given.
 */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly "x-enum-varnames"?: readonly string[];
  readonly not?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly discriminator?: {
    readonly propertyName: string;
    readonly mapping: Readonly<Record<string, string>>;
  };
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly propertyNames?: JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly examples?: readonly unknown[];
}

/** A reference to a component of the document. */
export function reference(
  kind: "schemas" | "parameters" | "headers" | "responses" | "examples",
  name: string,
) {
  return { $ref: `#/components/${kind}/${name}` };
}

/** Removes the keys whose value is undefined. */
export function present<T extends object>(
  object: {
    readonly [K in keyof T]: T[K] | undefined;
  },
): T {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  // Only keys with the value undefined are gone, and T allows those to be absent.
  return Object.fromEntries(entries) as T;
}
