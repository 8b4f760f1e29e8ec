/** Where the templates of a kind are. The tables of both kinds have the same columns, so that they share statements. */
export interface TemplateTables {
  readonly templates: "qrcode_templates" | "page_theme_templates";
  readonly slugs: "qrcode_template_slugs" | "page_theme_template_slugs";
  /** Each template has one, its `look_id`. */
  readonly looks: "qrcode_designs" | "page_themes";
  /** The column of links that names the template whose look they got. */
  readonly ofLinks: "qrcode_template_id" | "page_theme_template_id";
}

export const qrcodeTemplateTables: TemplateTables = {
  templates: "qrcode_templates",
  slugs: "qrcode_template_slugs",
  looks: "qrcode_designs",
  ofLinks: "qrcode_template_id",
};

export const pageThemeTemplateTables: TemplateTables = {
  templates: "page_theme_templates",
  slugs: "page_theme_template_slugs",
  looks: "page_themes",
  ofLinks: "page_theme_template_id",
};
