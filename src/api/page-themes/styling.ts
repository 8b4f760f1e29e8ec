import { fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import type { Json } from "../../../gen/database.ts";
import {
  type UpdatePageThemeRequest,
  UpdatePageThemeRequestSchema,
} from "../../../gen/signpost/v1/page_themes_service_pb.js";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { shownStyling } from "../resources/page-theme.ts";

/** The fields of an update whose values are media files, and where a styling has the id of the file. */
export const mediaFields = {
  canvas_cover: { name: "canvasCover", storedAs: "canvasCoverId", type: "BACKGROUND_COVER" },
  badge: { name: "badge", storedAs: "badgeId", type: "BADGE" },
} as const;

export type MediaField = keyof typeof mediaFields;

/** The stored look as the request that would make it, for requests that name parts of its fields. */
export function storedRequest(styling: Json): UpdatePageThemeRequest {
  const { canvasCoverId, badgeId, ...look } = shownStyling(styling);
  const media = {
    ...(canvasCoverId ? { canvasCover: { id: canvasCoverId } } : {}),
    ...(badgeId ? { badge: { id: badgeId } } : {}),
  };
  return fromJson(UpdatePageThemeRequestSchema, { ...look, ...media }, { ignoreUnknownFields: true });
}

/** The media files that an update chooses. */
export function chosenMedia(request: UpdatePageThemeRequest): { field: MediaField; id: string }[] {
  const given = givenFields(request);
  return (["canvas_cover", "badge"] as const).flatMap((field) => {
    const id = given.has(field) ? mediaId(request, field) : undefined;
    return id === undefined ? [] : [{ field, id }];
  });
}

/**
 * The stored form of a look after an update. A field that the request names without a value is removed, and takes the
 * default again.
 */
export function changedStyling(before: Json, request: UpdatePageThemeRequest): JsonObject {
  const given = givenFields(request);
  const { updateMask: _, ...look } = request;
  const wanted = toJson(UpdatePageThemeRequestSchema, look) as JsonObject; // a message is an object
  const changed = [...given].map((field): [string, Json | undefined] => {
    if (field === "canvas_cover" || field === "badge")
      return [mediaFields[field].storedAs, mediaId(request, field)];
    const name = storedNames[field];
    return [name, wanted[name]];
  });
  if (given.has("container_enabled") && !request.containerEnabled)
    changed.push(["containerConfig", undefined]);
  const after = new Map<string, Json | undefined>(Object.entries(before as JsonObject));
  for (const [name, value] of changed) after.set(name, value);
  return Object.fromEntries([...after].filter(([, value]) => value !== undefined)) as JsonObject;
}

/** The changeable fields besides media files, by their names in a mask. */
const storedNames = {
  canvas_color: "canvasColor",
  canvas_cover_mode: "canvasCoverMode",
  badge_enabled: "badgeEnabled",
  badge_shape: "badgeShape",
  badge_icon_color: "badgeIconColor",
  title_font: "titleFont",
  body_font: "bodyFont",
  element_color: "elementColor",
  element_font: "elementFont",
  container_enabled: "containerEnabled",
  container_config: "containerConfig",
} as const;

type StylingField = keyof typeof storedNames | MediaField;

function givenFields(request: UpdatePageThemeRequest): ReadonlySet<StylingField> {
  const values = Object.entries(storedNames).map(([field, name]) => [field, request[name]]);
  const { canvasCover, badge } = request;
  return fieldsToChange<StylingField>(
    { ...Object.fromEntries(values), canvas_cover: canvasCover, badge },
    request.updateMask?.paths,
  );
}

function mediaId(request: UpdatePageThemeRequest, field: MediaField): string | undefined {
  const selection = request[mediaFields[field].name]?.selection;
  return selection?.case === "id" ? selection.value.toLowerCase() : undefined;
}
