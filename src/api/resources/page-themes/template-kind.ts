import {
  PageThemeTemplateSchema,
  PublicPageThemeTemplateSchema,
} from "../../../../gen/signpost/v1/page_theme_template_pb.js";
import { pageThemeTemplateTables } from "../../../db/templates/template-tables.ts";
import type { SignFile } from "../file-address.ts";
import { type PageThemeRow, toPageTheme } from "../page-theme.ts";
import type { TemplateKind } from "../templates/kind.ts";
import { imageUrlOf, ownFields, publicFields } from "../templates/message.ts";
import type { Beside } from "../templates/queries.ts";

export const pageThemeTemplates: TemplateKind<
  typeof PageThemeTemplateSchema,
  typeof PublicPageThemeTemplateSchema
> = {
  tables: pageThemeTemplateTables,
  noun: "page theme template",
  listed: "page theme templates",
  hasMedia: true,
  showsLook: true,
  own: PageThemeTemplateSchema,
  toOwn: (signFile, row, workspaceId) => ({
    ...ownFields(signFile, row, workspaceId),
    ...mediaFields(signFile, row),
    pageThemeId: row.look_id,
  }),
  public: PublicPageThemeTemplateSchema,
  toPublic: (signFile, row) => ({ ...publicFields(signFile, row), ...mediaFields(signFile, row) }),
};

function mediaFields(signFile: SignFile, { look, cover_key, badge_key }: Beside) {
  return {
    // The look is a row of the themes.
    ...(look ? { pageTheme: toPageTheme(look as unknown as PageThemeRow) } : {}),
    coverSignedUrl: imageUrlOf(signFile, cover_key),
    badgeSignedUrl: imageUrlOf(signFile, badge_key),
  };
}
