import { randomUUID } from "node:crypto";
import pg from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import { PageThemesService } from "../../../gen/signpost/v1/page_themes_service_pb.js";
import { onePixel } from "../../../test/support/one-pixel.ts";
import { type Reply, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { makers } from "../../../test/support/tenant-records.ts";

const api = await startApi();
const { db } = api;

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
let id: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
  id = await makers.pageTheme(api, workspace);
});

const solid = (...colors: string[]) => ({ type: "THEME_COLOR_TYPE_SOLID", colors });
const fontOf = (size: number) => ({ family: "PAGE_THEME_FONT_FAMILY_DEFAULT", fontSize: size });

function patch(fields: object, theme = id): Promise<Reply> {
  return rest("PATCH", `/v1/page-themes/${theme}`, fields);
}

async function read() {
  const { status, json } = await rest("GET", `/v1/page-themes/${id}`);
  expect(status).toBe(200);
  return json.pageTheme;
}

async function upload(type: string, by: TestWorkspace = workspace): Promise<string> {
  const { json } = await by.rest("POST", "/v1/media", { fileData: onePixel, mediaType: `TYPE_${type}` });
  return json.media.id;
}

test("a theme shows the built-in look for what it leaves open, the same over REST and gRPC and in its links", async () => {
  const theme = await read();
  expect(theme).toMatchObject({
    id,
    workspaceId: workspace.workspaceId,
    canvasColor: solid("#ffffff"),
    titleFont: { ...fontOf(28), bold: true, color: solid("#111827") },
    bodyFont: { ...fontOf(16), color: solid("#111827") },
    elementColor: solid("#2563eb"),
    elementFont: fontOf(16),
  });
  const { pageTheme } = await workspace.client(PageThemesService).getPageTheme({ id });
  expect(pageTheme).toMatchObject({ id, titleFont: { fontSize: 28, bold: true }, canvasCoverId: "" });
  const { json } = await rest("POST", "/v1/links", { destination: "https://example.com" });
  await rest("PATCH", `/v1/links/${json.link.id}`, { pageThemeId: id });
  const link = await rest("GET", `/v1/links/${json.link.id}?include=pageTheme`);
  expect(link.json.link.pageTheme).toEqual(theme);
});

test("a list shows the newest first, page by page, with their number, and no theme of others", async () => {
  await makers.pageTheme(api, await api.newWorkspace());
  const ids = [id];
  for (let made = 0; made < 4; made++) ids.unshift(await makers.pageTheme(api, workspace));
  const found: string[] = [];
  for (let token = ""; ; ) {
    const { json } = await rest("GET", `/v1/page-themes?pageSize=2&pageToken=${token}`);
    expect(json.totalCount).toBe("5");
    found.push(...json.pageThemes.map((theme: { id: string }) => theme.id));
    token = json.nextPageToken;
    if (!token) break;
  }
  expect(found).toEqual(ids);
  const damaged = await rest("GET", "/v1/page-themes?pageToken=x");
  expect([damaged.status, damaged.json.error.codeType]).toEqual([400, "INVALID_PAGE_TOKEN"]);
});

describe("update", () => {
  test("changes what is named and no other, and the same look again changes nothing", async () => {
    const before = await read();
    const badge = { badgeEnabled: true, badgeShape: "PAGE_THEME_BADGE_SHAPE_SQUARE" };
    const { status, json } = await patch({ ...badge, bodyFont: { fontSize: 18 } });
    expect(status).toBe(200);
    const { updatedAt } = json.pageTheme;
    const { bodyFont, ...after } = json.pageTheme;
    const { bodyFont: _, ...others } = before;
    expect(after).toEqual({ ...others, ...badge, updatedAt });
    // A field that is sent is sent whole: the rest of the font is as a new one.
    expect(bodyFont).toMatchObject({ fontSize: 18, family: "PAGE_THEME_FONT_FAMILY_UNSPECIFIED" });
    expect(bodyFont).not.toHaveProperty("color");
    expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    expect((await patch({ ...badge, bodyFont: { fontSize: 18 } })).json.pageTheme).toEqual(json.pageTheme);
    expect((await patch({})).json.pageTheme).toEqual(json.pageTheme);
    expect(await read()).toEqual(json.pageTheme);
  });

  test("obeys the mask over gRPC, in whole and in part, and clears what it names without a value", async () => {
    const client = workspace.client(PageThemesService);
    const color = { type: 1, colors: ["#7c2d12"] };
    const part = await client.updatePageTheme({
      id,
      titleFont: { color, fontSize: 90 },
      badgeEnabled: true,
      updateMask: { paths: ["title_font.color"] },
    });
    expect(part.pageTheme).toMatchObject({
      badgeEnabled: false,
      titleFont: { fontSize: 28, bold: true, color },
    });
    const cleared = await client.updatePageTheme({ id, updateMask: { paths: ["title_font"] } });
    expect(cleared.pageTheme?.titleFont?.color?.colors).toEqual(["#111827"]);
    const wrong = client.updatePageTheme({ id, updateMask: { paths: ["badge_id"] } });
    await expect(wrong).rejects.toThrow("updateMask: names badge_id, which no update changes");
  });

  test("turning the container off clears it, and a container needs its variant", async () => {
    const containerConfig = { variant: "PAGE_THEME_CONTAINER_VARIANT_SQUARE", opacity: 80 };
    const { json } = await patch({ containerEnabled: true, containerConfig });
    expect(json.pageTheme).toMatchObject({ containerEnabled: true, containerConfig });
    await patch({ badgeEnabled: true });
    expect(await read()).toMatchObject({ containerEnabled: true, containerConfig });
    const off = (await patch({ containerEnabled: false })).json.pageTheme;
    expect(off).not.toHaveProperty("containerConfig");
    const again = (await patch({ containerEnabled: true })).json.pageTheme;
    expect(again).not.toHaveProperty("containerConfig");
    const nothing = await patch({ containerConfig: { opacity: 50 } });
    expect(nothing.json.error.message).toContain("containerConfig.variant");
    const part = workspace.client(PageThemesService).updatePageTheme({
      id,
      containerConfig: { opacity: 50 },
      updateMask: { paths: ["container_config.opacity"] },
    });
    await expect(part).rejects.toThrow("containerConfig.variant");
    expect(await read()).toEqual(again);
  });

  test("chooses media files of the workspace and takes them away", async () => {
    const [cover, badge] = [await upload("BACKGROUND_COVER"), await upload("BADGE")];
    const { json } = await patch({ canvasCover: { id: cover.toUpperCase() }, badge: { id: badge } });
    expect(json.pageTheme).toMatchObject({ canvasCoverId: cover, badgeId: badge });
    const used = await rest("DELETE", `/v1/media/${cover}`);
    expect([used.status, used.json.error.codeType]).toEqual([412, "MEDIA_IN_USE"]);
    const kept = await workspace.client(PageThemesService).updatePageTheme({
      id,
      updateMask: { paths: ["badge.delete"] },
    });
    expect(kept.pageTheme?.badgeId).toBe(badge);
    const { pageTheme } = (await patch({ canvasCover: { delete: {} } })).json;
    expect([pageTheme.canvasCoverId || "", pageTheme.badgeId]).toEqual(["", badge]);
    expect((await rest("DELETE", `/v1/media/${cover}`)).status).toBe(200);
  });

  test("refuses media files that are missing, of others, or of another type, and writes nothing", async () => {
    const before = await read();
    const foreign = await upload("BACKGROUND_COVER", await api.newWorkspace());
    for (const missing of [foreign, randomUUID()]) {
      const { status, json } = await patch({ badgeEnabled: true, canvasCover: { id: missing } });
      const message = `canvasCover.id: there is no media file ${missing} in this workspace`;
      expect([status, json.error.message]).toEqual([404, message]);
    }
    const badge = await upload("BADGE");
    const wrong = await patch({ badge: { id: badge }, canvasCover: { id: badge } });
    expect([wrong.status, wrong.json.error.message]).toEqual([
      400,
      `canvasCover.id: media file ${badge} is of the type BADGE; upload one of the type BACKGROUND_COVER`,
    ]);
    expect(await read()).toEqual(before);
  });

  test.each<[string, object]>([
    ["titleFont.fontSize", { titleFont: { fontSize: 97 } }],
    ["bodyFont.familyStack", { bodyFont: { familyStack: "Inter;}*{color:red" } }],
    ["elementFont.familyStack", { elementFont: { familyStack: "x".repeat(201) } }],
    ["canvasColor.colors[0]", { canvasColor: { colors: ["url(//evil.example)"] } }],
    ["canvasColor", { canvasColor: { type: "THEME_COLOR_TYPE_LINEAR", colors: ["#fff"] } }],
    ["badge", { badge: {} }],
    ["containerConfig.borderSize", { containerConfig: { variant: 1, borderSize: -1 } }],
    ["containerConfig.opacity", { containerConfig: { variant: 1, opacity: 101 } }],
  ])("refuses a bad %s by its name and writes nothing", async (field, fields) => {
    const before = await read();
    const { status, json } = await patch({ badgeEnabled: true, ...fields });
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(field)]);
    expect(await read()).toEqual(before);
  });

  test("answers 404 for a theme that is not there", async () => {
    for (const missing of [randomUUID(), await makers.pageTheme(api, await api.newWorkspace())]) {
      expect((await patch({ badgeEnabled: true }, missing)).status).toBe(404);
      expect((await rest("GET", `/v1/page-themes/${missing}`)).status).toBe(404);
    }
  });

  test("says which values pages replace so that they can be read, and by what", async () => {
    const calm = await patch({ elementColor: solid("#0a7c66") });
    expect(calm.json.warnings).toEqual([]);
    const { json } = await patch({ bodyFont: { color: solid("#dddddd") } });
    const [warning, ...more] = json.warnings;
    expect(more).toEqual([]);
    expect(warning).toEqual({
      field: "bodyFont.color",
      from: "#dddddd",
      to: expect.stringMatching(/^#[0-9a-f]{6}$/),
      message: `pages show bodyFont.color as ${warning.to} in place of #dddddd, so that everybody can read them`,
    });
    expect(json.pageTheme.bodyFont.color).toMatchObject(solid("#dddddd"));
    const { warnings } = await workspace.client(PageThemesService).updatePageTheme({ id });
    expect(warnings).toMatchObject([{ field: "bodyFont.color", from: "#dddddd", to: warning.to }]);
  });

  test("loses no change when several come at once", async () => {
    const changes = [{ badgeEnabled: true }, { bodyFont: fontOf(20) }, { elementColor: solid("#000000") }];
    const replies = await Promise.all(changes.map((change) => patch(change)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await read()).toMatchObject(Object.assign({}, ...changes));
  });

  test("a media file that is deleted while a theme takes it is gone or taken, never both", async () => {
    for (let round = 0; round < 8; round++) {
      const badge = await upload("BADGE");
      const [taken, deleted] = await Promise.all([
        patch({ badge: { id: badge } }),
        rest("DELETE", `/v1/media/${badge}`),
      ]);
      expect([
        [200, 412],
        [404, 200],
      ]).toContainEqual([taken.status, deleted.status]);
    }
  });

  test("tells the scan runtime once, and only of a change", async () => {
    const told: string[] = [];
    const client = new pg.Client(api.database.connection);
    await client.connect();
    client.on("notification", ({ payload = "" }) => told.push(payload));
    await client.query("listen signpost_plan");
    await patch({ badgeEnabled: true });
    await patch({ badgeEnabled: true });
    await patch({ badgeEnabled: false });
    // The answer to a query comes after the notifications of what was committed before.
    await client.query("select 1");
    await client.end();
    expect(told).toEqual([workspace.workspaceId, workspace.workspaceId]);
  });
});

describe("preview", () => {
  const preview = (query = "", theme = id) => rest("GET", `/v1/page-themes/${theme}/preview${query}`);

  test.each([
    ["form", "<form"],
    ["message", "Welcome to the museum"],
    ["multi-link", "Trattoria Verde"],
    ["social", "Notes on engines"],
    ["contact", "ada@engines.example"],
    ["thank-you", "Thank you!"],
    ["password", 'type="password"'],
  ])("shows a %s in the look of the theme, under the policy of visitors' pages", async (step, content) => {
    await patch({ canvasColor: solid("#123456") });
    const { status, headers, text } = await preview(`?step=${step}`);
    expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(headers["x-robots-tag"]).toBe("noindex");
    expect(headers["cache-control"]).toBe("no-store");
    for (const policy of [headers["content-security-policy"], text]) {
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("form-action 'none'");
    }
    expect(text).toMatch(/http-equiv="Content-Security-Policy" content="[^"]*style-src 'sha256-/);
    expect(text).toContain(content);
    expect(text).toContain("#123456");
    expect(text).not.toContain("<script");
    const { page } = await workspace.client(PageThemesService).previewPageTheme({ id, step });
    expect([page?.contentType, Buffer.from(page?.data ?? []).toString()]).toEqual([
      "text/html; charset=utf-8",
      text,
    ]);
  });

  test("shows a message unless told otherwise, in any language, and records nothing", async () => {
    expect((await preview()).text).toBe((await preview("?step=message")).text);
    expect((await preview("?step=form&language=de")).text).toContain('<html lang="de"');
    const visits = await db
      .selectFrom("events")
      .select("id")
      .where("workspace_id", "=", workspace.workspaceId)
      .execute();
    expect(visits).toEqual([]);
  });

  test("shows the theme of a template, and refuses what is missing, of others, unknown or without a token", async () => {
    const { json } = await rest("POST", "/v1/page-theme-templates", {});
    expect((await preview("", json.pageThemeTemplate.pageThemeId)).status).toBe(200);
    const theirs = await makers.pageTheme(api, await api.newWorkspace());
    for (const missing of [randomUUID(), theirs]) expect((await preview("", missing)).status).toBe(404);
    for (const wrong of ["?step=other", "?step=FORM"]) {
      const { status, json } = await preview(wrong);
      expect([status, json.error.message]).toEqual([400, expect.stringContaining("step")]);
    }
    expect((await preview("", "x")).status).toBe(400);
    expect((await api.rest()("GET", `/v1/page-themes/${id}/preview`)).status).toBe(401);
  });
});

test("one page of the largest themes stays within the bytes of an answer", async () => {
  const colors = Array(50).fill(`rgb(${"1".repeat(17)}%, ${"2".repeat(17)}%, ${"3".repeat(17)}%)`);
  const styling = JSON.stringify({
    canvasColor: { colors },
    elementColor: { colors },
    badgeIconColor: { colors },
  });
  const at = api.now();
  const rows = Array.from({ length: 600 }, () => ({
    workspace_id: workspace.workspaceId,
    id: randomUUID(),
    styling,
    created_at: at,
    updated_at: at,
  }));
  await db.insertInto("page_themes").values(rows).execute();
  const { status, text, json } = await rest("GET", "/v1/page-themes?pageSize=1000");
  expect([status, text.length <= 4 * 1024 * 1024, json.totalCount]).toEqual([200, true, "601"]);
  expect(json.pageThemes.length).toBeGreaterThan(100);
  expect(json.nextPageToken).not.toBe("");
});
