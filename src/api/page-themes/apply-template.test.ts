import type { JsonObject } from "@bufbuild/protobuf";
import pg from "pg";
import sharp from "sharp";
import { beforeEach, describe, expect, test } from "vitest";
import { PageThemesService } from "../../../gen/signpost/v1/page_themes_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { makers } from "../../../test/support/tenant-records.ts";

const api = await startApi();
const { clock, db } = api;
const templates = "/v1/page-theme-templates";
const { method } = PageThemesService;
const missing = "6f1c1a52-55f0-4d0c-8a6e-0d2a6f7f8c02";

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
let linkId: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
  linkId = await makers.link(api, workspace);
});

const solid = (hex: string) => ({ type: "THEME_COLOR_TYPE_SOLID", colors: [hex] });

async function upload(type: string, background: string, by = workspace): Promise<string> {
  const image = sharp({ create: { width: 40, height: 30, channels: 3, background } });
  const fileData = (await image.png().toBuffer()).toString("base64");
  return (await by.rest("POST", "/v1/media", { fileData, mediaType: `TYPE_${type}` })).json.media.id;
}

async function template(styling: object, by = workspace): Promise<string> {
  const { status, json } = await by.rest("POST", templates, { description: "For menus", styling });
  expect(status, JSON.stringify(json)).toBe(200);
  return json.pageThemeTemplate.id;
}

async function publish(id: string, by: TestWorkspace): Promise<void> {
  await db
    .updateTable("workspaces")
    .set({ published_at: clock.now() })
    .where("id", "=", by.workspaceId)
    .execute();
  await by.rest("PATCH", `${templates}/${id}`, { slug: `shared-${id}` });
  expect((await by.rest("POST", `${templates}/${id}/publish`)).status).toBe(200);
}

const apply = (request: JsonObject, by = workspace) =>
  by.rest("POST", "/v1/page-themes/apply-template", { linkId, ...request });

async function readLink(id = linkId) {
  return (await rest("GET", `/v1/links/${id}?include=pageTheme`)).json.link;
}

async function matching(id = linkId) {
  return (await rest("GET", `/v1/page-themes/matching-template?linkId=${id}`)).json;
}

describe("apply-template", () => {
  test("gives a link a theme of its own, and the next template's look into the same theme", async () => {
    const [one, two] = [
      await template({ badgeEnabled: true }),
      await template({ elementColor: solid("#0a7c66") }),
    ];
    const first = (await apply({ pageThemeTemplateId: one })).json.pageTheme;
    expect(await readLink()).toMatchObject({ pageThemeTemplateId: one, pageTheme: first });
    const second = (await apply({ pageThemeTemplateId: two })).json.pageTheme;
    expect(second).toMatchObject({ id: first.id, badgeEnabled: false, elementColor: solid("#0a7c66") });
    const dressed = await readLink();
    expect(dressed).toMatchObject({ pageThemeTemplateId: two, pageTheme: second });
    // The same again changes nothing.
    expect((await apply({ pageThemeTemplateId: two })).json.pageTheme).toEqual(second);
    expect((await readLink()).updatedAt).toBe(dressed.updatedAt);
    expect((await rest("GET", `${templates}/${two}`)).json.usageCount).toBe("1");
    // Later edits of the template do not reach the link.
    await rest("PATCH", `${templates}/${two}/styling`, { elementColor: solid("#000000") });
    expect((await readLink()).pageTheme).toEqual(second);
  });

  test("gives a link whose theme serves another link too a theme of its own, and leaves the other its look", async () => {
    const other = await makers.link(api, workspace);
    const { id: shared } = (await apply({ slug: "plain" })).json.pageTheme;
    await rest("PATCH", `/v1/links/${other}`, { pageThemeId: shared });
    const before = (await readLink(other)).pageTheme;
    const pageThemeTemplateId = await template({ badgeEnabled: true });
    const { pageTheme } = (await apply({ pageThemeTemplateId })).json;
    expect(pageTheme).toMatchObject({ badgeEnabled: true });
    expect(pageTheme.id).not.toBe(shared);
    expect((await readLink(other)).pageTheme).toEqual(before);
    // Now nobody shares it.
    const again = await apply({ linkId: other, pageThemeTemplateId });
    expect(again.json.pageTheme).toMatchObject({ id: shared, badgeEnabled: true });
  });

  test("copies cover and badge into the workspace, once for all links, by slug and by id", async () => {
    const other = await api.newWorkspace();
    const [cover, badge] = [
      await upload("BACKGROUND_COVER", "#335577", other),
      await upload("BADGE", "#aa5533", other),
    ];
    const id = await template({ canvasCover: { id: cover }, badge: { id: badge } }, other);
    expect((await apply({ pageThemeTemplateId: id })).status).toBe(404);
    await publish(id, other);
    const { pageTheme } = (await apply({ slug: `shared-${id}` })).json;
    const { media } = (await rest("GET", "/v1/media")).json;
    expect(media.map((each: { id: string }) => each.id).toSorted()).toEqual(
      [pageTheme.canvasCoverId, pageTheme.badgeId].toSorted(),
    );
    for (const each of [cover, badge])
      expect([pageTheme.canvasCoverId, pageTheme.badgeId]).not.toContain(each);
    const second = { linkId: await makers.link(api, workspace), pageThemeTemplateId: id };
    const { canvasCoverId } = (await apply(second)).json.pageTheme;
    expect(canvasCoverId).toBe(pageTheme.canvasCoverId);
    expect((await rest("GET", "/v1/media")).json.media).toHaveLength(2);
    expect((await rest("DELETE", `/v1/media/${canvasCoverId}`)).status).toBe(412);
  });

  test.each<[string, JsonObject, string]>([
    ["neither template nor slug", {}, "ONE_OF_REQUIRED"],
    ["both", { pageThemeTemplateId: missing, slug: "plain" }, "ONE_OF_REQUIRED"],
    ["a template that is not there", { pageThemeTemplateId: missing }, "NOT_FOUND"],
    ["a slug that nobody has published", { slug: "nothing-of-this-name" }, "NOT_FOUND"],
    ["a link that is not there", { linkId: missing, slug: "plain" }, "NOT_FOUND"],
    ["an id that is none", { pageThemeTemplateId: "x" }, "INVALID_ID"],
  ])("refuses %s, and writes nothing, over REST and gRPC", async (_, fields, reason) => {
    const before = await readLink();
    for (const protocol of ["rest", "grpc"] as const) {
      const request = { linkId, ...fields };
      const answer = await ask(api, protocol, method.applyTemplate, request, workspace.token);
      expect(answer.reason).toBe(reason);
    }
    expect(await readLink()).toEqual(before);
    expect((await rest("GET", "/v1/page-themes")).json.totalCount).toBe("0");
  });

  test("tells the scan runtime of the link, and later of the theme", async () => {
    const told: string[] = [];
    const client = new pg.Client(api.database.connection);
    await client.connect();
    client.on("notification", ({ payload = "" }) => told.push(payload));
    await client.query("listen signpost_plan");
    await apply({ slug: "plain" });
    await apply({ slug: "poster" });
    await apply({ slug: "poster" });
    // The answer to a query comes after the notifications of what was committed before.
    await client.query("select 1");
    await client.end();
    expect(told).toEqual([`/${(await readLink()).shortlink}`, workspace.workspaceId]);
  });

  test("of a template that is being deleted gives a whole look, and never a template that is gone", async () => {
    for (let round = 0; round < 6; round++) {
      const id = await template({ badgeEnabled: true });
      const link = await makers.link(api, workspace);
      // Every other link has the template already.
      const pageThemeTemplateId = round % 2 === 0 ? id : await template({ badgeEnabled: true });
      await apply({ linkId: link, pageThemeTemplateId });
      const [applied, deleted] = await Promise.all([
        rest("POST", "/v1/page-themes/apply-template", { linkId: link, pageThemeTemplateId: id }),
        rest("DELETE", `${templates}/${id}`),
      ]);
      expect(deleted.status).toBe(200);
      expect([200, 404]).toContain(applied.status);
      const dressed = await readLink(link);
      expect(dressed.pageThemeTemplateId).not.toBe(id);
      expect(dressed.pageTheme.badgeEnabled).toBe(true);
    }
  });

  test("of two templates at once gives the look of one, and says which", async () => {
    const looks = [{ badgeEnabled: true }, { containerEnabled: true }];
    const ids = [await template(looks[0] ?? {}), await template(looks[1] ?? {})];
    const replies = await Promise.all(ids.map((id) => apply({ pageThemeTemplateId: id })));
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    const { pageThemeTemplateId, pageTheme } = await readLink();
    expect(pageTheme).toMatchObject(looks[ids.indexOf(pageThemeTemplateId)] ?? {});
    expect((await rest("GET", "/v1/page-themes")).json.totalCount).toBe("1");
  });
});

describe("matching-template", () => {
  test("finds the template whose look a link has, without its theme, until the look changes", async () => {
    const id = await template({ badgeEnabled: true, elementColor: solid("#0a7c66") });
    const { pageTheme } = (await apply({ pageThemeTemplateId: id })).json;
    const found = await matching();
    expect(found).toMatchObject({ matched: true, pageThemeTemplate: { id, usageCount: "1", owned: true } });
    expect(found.pageThemeTemplate).not.toHaveProperty("pageTheme");
    const request = { linkId };
    const grpc = await ask(api, "grpc", method.findMatchingTemplate, request, workspace.token);
    expect(grpc.body).toEqual(found);
    await rest("PATCH", `/v1/page-themes/${pageTheme.id}`, { badgeEnabled: false });
    expect(await matching()).toEqual({ matched: false });
    await rest("PATCH", `${templates}/${id}/styling`, { badgeEnabled: false });
    expect(await matching()).toMatchObject({ matched: true, pageThemeTemplate: { id } });
  });

  test("compares media by what is in them", async () => {
    const other = await api.newWorkspace();
    const cover = await upload("BACKGROUND_COVER", "#102030", other);
    const id = await template({ canvasCover: { id: cover } }, other);
    await publish(id, other);
    await apply({ pageThemeTemplateId: id });
    expect(await matching()).toMatchObject({ matched: true, pageThemeTemplate: { id, owned: false } });
    const another = await upload("BACKGROUND_COVER", "#405060");
    const { pageTheme } = await readLink();
    await rest("PATCH", `/v1/page-themes/${pageTheme.id}`, { canvasCover: { id: another } });
    expect(await matching()).toEqual({ matched: false });
  });

  test("prefers own templates, then the oldest, and sees only what the workspace can use", async () => {
    const look = { bodyFont: { fontSize: 21 } };
    const [other, third] = [await api.newWorkspace(), await api.newWorkspace()];
    const [old, young] = [await template(look, other), await template(look, third)];
    await template(look, await api.newWorkspace());
    await publish(young, third);
    await apply({ pageThemeTemplateId: young });
    expect((await matching()).pageThemeTemplate.id).toBe(young);
    await publish(old, other);
    expect((await matching()).pageThemeTemplate.id).toBe(old);
    const [mine] = [await template(look), await template(look)];
    expect((await matching()).pageThemeTemplate.id).toBe(mine);
  });

  test("a link without a theme has the default look, and a missing link is refused", async () => {
    const id = await template({});
    expect((await matching()).pageThemeTemplate.id).toBe(id);
    for (const bad of [missing, await makers.link(api, await api.newWorkspace())])
      expect((await rest("GET", `/v1/page-themes/matching-template?linkId=${bad}`)).status).toBe(404);
    for (const query of ["", "?linkId=x"])
      expect((await rest("GET", `/v1/page-themes/matching-template${query}`)).status).toBe(400);
  });
});
