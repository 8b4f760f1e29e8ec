import { create, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import type { Json } from "../../../../gen/database.ts";
import {
  type PageThemeStyling,
  PageThemeStylingSchema,
} from "../../../../gen/signpost/v1/page_theme_styling_pb.js";
import { fieldsToChange } from "../../../lib/field-mask.ts";
import { shownStyling } from "../page-theme.ts";

/** The values of a look that a request may have, and which of them it changes. Without a mask: those with a value. */
export type LookChange = Omit<PageThemeStyling, "$typeName" | "$unknown"> & {
  readonly updateMask?: { readonly paths: readonly string[] } | undefined;
};

/** The fields of a look whose values are media files, and where a styling has the id of the file. */
export const mediaFields = {
  canvas_cover: { name: "canvasCover", storedAs: "canvasCoverId", type: "BACKGROUND_COVER" },
  badge: { name: "badge", storedAs: "badgeId", type: "BADGE" },
} as const;

export type MediaField = keyof typeof mediaFields;

/** The stored look as the values that would make it, for requests that name parts of its fields. */
export function storedLook(styling: Json): PageThemeStyling {
  const { canvasCoverId, badgeId, ...look } = shownStyling(styling);
  const media = {
    ...(canvasCoverId ? { canvasCover: { id: canvasCoverId } } : {}),
    ...(badgeId ? { badge: { id: badgeId } } : {}),
  };
  return fromJson(PageThemeStylingSchema, { ...look, ...media }, { ignoreUnknownFields: true });
}

/** The media files that a change chooses. */
export function chosenMedia(change: LookChange): { field: MediaField; id: string }[] {
  const given = givenFields(change);
  return (["canvas_cover", "badge"] as const).flatMap((field) => {
    const id = given.has(field) ? mediaId(change, field) : undefined;
    return id === undefined ? [] : [{ field, id }];
  });
}

/** The ids of the media files that a stored look has. */
export function mediaOf(styling: Json): {
  readonly cover: string | undefined;
  readonly badge: string | undefined;
} {
  // The column is only ever written with objects, and these fields with texts.
  const { canvasCoverId, badgeId } = styling as Readonly<Record<string, string | undefined>>;
  return { cover: canvasCoverId, badge: badgeId };
}

/**
 * The stored form of a look after a change. A field that the change names without a value is removed, and takes the
 * default again.
 */
export function changedStyling(before: Json, change: LookChange): JsonObject {
  const given = givenFields(change);
  const { updateMask: _, ...look } = change;
  const named = Object.values(storedNames).map((name) => [name, look[name]]);
  const message = create(PageThemeStylingSchema, Object.fromEntries(named));
  const wanted = toJson(PageThemeStylingSchema, message) as JsonObject; // a message is an object
  const changed = [...given].map((field): [string, Json | undefined] => {
    if (field === "canvas_cover" || field === "badge")
      return [mediaFields[field].storedAs, mediaId(change, field)];
    const name = storedNames[field];
    return [name, wanted[name]];
  });
  if (given.has("container_enabled") && !change.containerEnabled)
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

function givenFields(change: LookChange): ReadonlySet<StylingField> {
  const values = Object.entries(storedNames).map(([field, name]) => [field, change[name]]);
  const { canvasCover, badge } = change;
  return fieldsToChange<StylingField>(
    { ...Object.fromEntries(values), canvas_cover: canvasCover, badge },
    change.updateMask?.paths,
  );
}

function mediaId(change: LookChange, field: MediaField): string | undefined {
  const selection = change[mediaFields[field].name]?.selection;
  return selection?.case === "id" ? selection.value.toLowerCase() : undefined;
}
