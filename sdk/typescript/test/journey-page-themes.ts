import assert from "node:assert/strict";
import { type Client, items } from "signpost-client";
import { PageThemeTemplateScope } from "signpost-client/v1/page_theme_templates_service";
import { all, given } from "./journey-support.ts";

/** Makes a look, publishes it, gives it to the link, and looks at the link's pages. */
export async function wearTemplate(client: Client, run: string, linkId: string): Promise<void> {
  const { pageThemeTemplates: templates, pageThemes: themes } = client;
  const made = await templates.createPageThemeTemplate({
    name: "Journey",
    description: "With a badge",
    tags: "menu",
    styling: { badgeEnabled: true },
  });
  const { id } = given(made.pageThemeTemplate);
  const changed = await templates.updatePageThemeTemplate({
    id,
    name: "Renamed",
    slug: run,
    tags: "ignored",
    updateMask: { paths: ["name", "slug"] },
  });
  assert.deepEqual([changed.pageThemeTemplate?.name, changed.pageThemeTemplate?.tags], ["Renamed", "menu"]);
  await templates.updatePageThemeTemplateStyling({ id, bodyFont: { fontSize: 20 } });
  const read = await templates.getPageThemeTemplate({ id, include: ["pageTheme"] });
  const look = given(read.pageThemeTemplate?.pageTheme);
  assert.deepEqual([look.badgeEnabled, look.bodyFont?.fontSize], [true, 20]);
  const scope = PageThemeTemplateScope.WORKSPACE;
  const own = items(templates.listPageThemeTemplates, { scope }, (page) => page.pageThemeTemplates);
  assert((await all(own)).some((template) => template.id === id));
  const published = await templates.publishPageThemeTemplate({ id });
  assert.notEqual(published.pageThemeTemplate?.publishedAt, undefined);
  const gallery = items(templates.publicListPageThemeTemplates, {}, (page) => page.pageThemeTemplates);
  const { slug, name } = given((await all(gallery))[0]);
  assert.equal((await templates.publicGetPageThemeTemplate({ slug })).pageThemeTemplate?.name, name);
  const { images } = await templates.resolvePageThemeTemplateImages({ templateIds: [id] });
  assert.notEqual(images[id], undefined);
  const copied = await templates.importPageThemeTemplate({ slug });
  await templates.deletePageThemeTemplate({ id: given(copied.pageThemeTemplate).id });

  const applied = given((await themes.applyTemplate({ linkId, pageThemeTemplateId: id })).pageTheme);
  assert.equal((await themes.getPageTheme({ id: applied.id })).pageTheme?.bodyFont?.fontSize, 20);
  const listed = await all(items(themes.listPageThemes, {}, (page) => page.pageThemes));
  assert.deepEqual(
    listed.map((theme) => theme.id),
    [applied.id],
  );
  const matching = await themes.findMatchingTemplate({ linkId });
  assert.deepEqual([matching.matched, matching.pageThemeTemplate?.id], [true, id]);
  const { page } = await themes.previewPageTheme({ id: applied.id, step: "thank-you" });
  assert(new TextDecoder().decode(given(page).data).includes("Thank you!"));
  const theme = await themes.updatePageTheme({ id: applied.id, bodyFont: { fontSize: 18 } });
  assert.equal(theme.pageTheme?.bodyFont?.fontSize, 18);
  assert.equal((await themes.findMatchingTemplate({ linkId })).matched, false);
  await templates.deletePageThemeTemplate({ id });
}
