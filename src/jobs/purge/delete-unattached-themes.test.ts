import { expect, test } from "vitest";
import { startApi } from "../../../test/support/start-api.ts";
import { makers } from "../../../test/support/tenant-records.ts";
import { deleteUnattachedThemes } from "./delete-unattached-themes.ts";

const api = await startApi();
const { clock, db } = api;
const dayMs = 24 * 60 * 60 * 1000;

const run = () => deleteUnattachedThemes(db, clock.now());

test("a theme of apply-template goes when no link has had it for 90 days, and no other theme does", async () => {
  const { rest, ...workspace } = await api.newWorkspace();
  const isThere = async (id: string) => (await rest("GET", `/v1/page-themes/${id}`)).status === 200;
  const dressed = async () => {
    const linkId = await makers.link(api, { rest, ...workspace });
    const { json } = await rest("POST", "/v1/page-themes/apply-template", { linkId, slug: "plain" });
    return { linkId, themeId: json.pageTheme.id };
  };
  const [used, left, taken] = [await dressed(), await dressed(), await dressed()];
  const template = (await rest("POST", "/v1/page-theme-templates", {})).json.pageThemeTemplate;
  for (const { linkId } of [left, taken]) await rest("DELETE", `/v1/links/${linkId}`);
  await run();
  clock.advance(89 * dayMs);
  expect(await run()).toBe(0);
  // It is taken and left between two runs, and its 90 days begin anew.
  const heir = await makers.link(api, { rest, ...workspace });
  await rest("PATCH", `/v1/links/${heir}`, { pageThemeId: taken.themeId });
  await rest("DELETE", `/v1/links/${heir}`);
  clock.advance(dayMs);
  expect(await run()).toBe(1);
  expect(await Promise.all([used, left, taken].map(({ themeId }) => isThere(themeId)))).toEqual([
    true,
    false,
    true,
  ]);
  clock.advance(90 * dayMs);
  expect(await run()).toBe(1);
  expect(await Promise.all([used.themeId, taken.themeId, template.pageThemeId].map(isThere))).toEqual([
    true,
    false,
    true,
  ]);
});

test("a theme that a link takes while it is being deleted is taken or gone, never both", async () => {
  const { rest, ...workspace } = await api.newWorkspace();
  for (let round = 0; round < 5; round++) {
    const linkId = await makers.link(api, { rest, ...workspace });
    const { json } = await rest("POST", "/v1/page-themes/apply-template", { linkId, slug: "plain" });
    const pageThemeId = json.pageTheme.id;
    await rest("DELETE", `/v1/links/${linkId}`);
    await run();
    clock.advance(90 * dayMs);
    const heir = await makers.link(api, { rest, ...workspace });
    const [attached] = await Promise.all([rest("PATCH", `/v1/links/${heir}`, { pageThemeId }), run()]);
    const theme = await rest("GET", `/v1/page-themes/${pageThemeId}`);
    expect([attached.status, theme.status]).toEqual(attached.status === 200 ? [200, 200] : [404, 404]);
    await rest("DELETE", `/v1/links/${heir}`);
  }
  // Nothing is left for other tests to count.
  await run();
  clock.advance(90 * dayMs);
  await run();
});
