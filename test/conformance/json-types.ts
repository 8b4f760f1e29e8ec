import { type DescField, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import type { Operation } from "./operations.ts";
import { pathTo, placesOf } from "./places.ts";
import { put, withField } from "./valid.ts";

/** A request with one value of a wrong JSON type. */
export interface TypeCase {
  readonly field: string;
  readonly request: JsonObject;
}

/** One case for every field of a request, at any depth, with a value of a wrong type. */
export function typeCasesOf({ method, binding }: Operation): TypeCase[] {
  return placesOf(method.input).flatMap((place) =>
    place.desc.fields.flatMap((field): TypeCase[] => {
      const [top = field.jsonName] = place.path.split(/[.[]/, 1).filter((name) => name !== "");
      const isInBody =
        binding.body.kind === "message" &&
        !binding.variables.some(({ fields }) => fields[0].jsonName === top);
      const value = isInBody ? wrongInBody(field) : wrongAsText(field);
      if (value === undefined) return [];
      const base = withField(place.desc, place.json, field);
      return [{ field: pathTo(place, field), request: place.wrap(put(base, field, value)) }];
    }),
  );
}

function wrongInBody(field: DescField): JsonValue | undefined {
  if (field.message?.typeName === "google.protobuf.FieldMask") return undefined;
  return field.fieldKind === "scalar" || field.fieldKind === "enum" ? {} : true;
}

/** In a path or a query every value is text, so only fields that are no text can get a wrong value. */
function wrongAsText({ fieldKind, scalar, message }: DescField): JsonValue | undefined {
  const isTime = message?.typeName === "google.protobuf.Timestamp";
  const isText = scalar === undefined || scalar === ScalarType.STRING;
  return fieldKind === "list" || (isText && !isTime) ? undefined : "a word";
}
