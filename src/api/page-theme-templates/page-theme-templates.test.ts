import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import sharp from "sharp";
import { beforeEach, describe, expect, test } from "vitest";
import { PageThemeTemplatesService } from "../../../gen/signpost/v1/page_theme_templates_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { type Reply, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { makers } from "../../../test/support/tenant-records.ts";
import { sweepFiles } from "../../db/file-checks.ts";

const api = await startApi();
const { clock, db, storage } = api;
const anyone = api.rest();
const templates = "/v1/page-theme-templates";
const { method } = PageThemeTemplatesService;
const missing = "6f1c1a52-55f0-4d0c-8a6e-0d2a6f7f8c01";

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

const solid = (hex: string) => ({ type: "THEME_COLOR_TYPE_SOLID", colors: [hex] });

async function picture(background: string): Promise<string> {
  const image = sharp({ create: { width: 40, height: 30, channels: 3, background } });
  return (await image.png().toBuffer()).toString("base64");
}

async function upload(type: string, color: string, by = workspace): Promise<string> {
  const body = { fileData: await picture(color), mediaType: `TYPE_${type}` };
  return (await by.rest("POST", "/v1/media", body)).json.media.id;
}

async function create(fields: object = {}, by = workspace) {
  const { status, json } = await by.rest("POST", templates, { name: "Ours", ...fields });
  expect(status, JSON.stringify(json)).toBe(200);
  return json.pageThemeTemplate;
}

async function read(id: string, by = workspace) {
  const { status, json } = await by.rest("GET", `${templates}/${id}?include=pageTheme`);
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
}

async function open(published_at: Date | null = clock.now(), { workspaceId } = workspace): Promise<void> {
  await db.updateTable("workspaces").set({ published_at }).where("id", "=", workspaceId).execute();
}

/** A template in the gallery, with its slug. */
async function publish(fields: object = {}): Promise<{ readonly id: string; readonly slug: string }> {
  await open();
  const { id } = await create({ description: "For menus", ...fields });
  const slug = `ours-${id}`;
  await rest("PATCH", `${templates}/${id}`, { slug });
  expect((await rest("POST", `${templates}/${id}/publish`)).status).toBe(200);
  return { id, slug };
}

const importIt = (slug: string, by: TestWorkspace) => by.rest("POST", `${templates}/import`, { slug });

async function bytesAt(url: string): Promise<string> {
  const file = await fetch(url.replace("http://api.test", `http://127.0.0.1:${api.port}`));
  expect(file.status).toBe(200);
  return Buffer.from(await file.arrayBuffer()).toString("base64");
}

/** How often a template waits for its thumbnail. */
async function jobsOf(templateId: string): Promise<number> {
  const { rows } = await api.database.pool.query(
    `select from graphile_worker._private_jobs where payload ->> 'templateId' = $1`,
    [templateId],
  );
  return rows.length;
}

const refusal = ({ status, json }: Reply) => [status, json.error.codeType];

describe("create", () => {
  test("makes a private template of the default look, which waits for its thumbnail", async () => {
    const template = (await rest("POST", templates, {})).json.pageThemeTemplate;
    expect(template).toMatchObject({
      workspaceId: workspace.workspaceId,
      name: "Untitled template",
      slug: "",
      builtIn: false,
      owned: true,
      usageCount: "0",
      thumbnailSignedUrl: "",
      coverSignedUrl: "",
      badgeSignedUrl: "",
      thumbnailPendingUpdateSince: template.createdAt,
    });
    expect(template).not.toHaveProperty("publishedAt");
    expect(template).not.toHaveProperty("duplicatedFrom");
    expect(template).not.toHaveProperty("pageTheme");
    expect(await jobsOf(template.id)).toBe(1);
    const { pageTheme, ...shown } = await read(template.id);
    expect(shown).toEqual(template);
    expect(pageTheme).toMatchObject({ id: template.pageThemeId, canvasColor: solid("#ffffff") });
  });

  test("copies a theme, puts the given values on top, and leaves the theme as it is", async () => {
    const [cover, badge] = [await upload("BACKGROUND_COVER", "#336699"), await upload("BADGE", "#993333")];
    const source = await makers.pageTheme(api, workspace);
    const look = { badgeEnabled: true, elementColor: solid("#0a7c66"), canvasCover: { id: cover } };
    const before = (await rest("PATCH", `/v1/page-themes/${source}`, look)).json.pageTheme;
    const styling = { elementColor: solid("#7c2d12"), badge: { id: badge } };
    const { id, pageThemeId, ...template } = await create({ sourcePageThemeId: source, styling });
    expect(pageThemeId).not.toBe(source);
    expect(await bytesAt(template.coverSignedUrl)).toBe(await bytesAt((await read(id)).coverSignedUrl));
    const { pageTheme } = await read(id);
    expect(pageTheme).toMatchObject({ badgeEnabled: true, elementColor: solid("#7c2d12") });
    expect([pageTheme.canvasCoverId, pageTheme.badgeId]).toEqual([cover, badge]);
    expect((await rest("GET", `/v1/page-themes/${source}`)).json.pageTheme).toEqual(before);
    expect(refusal(await rest("DELETE", `/v1/media/${badge}`))).toEqual([412, "MEDIA_IN_USE"]);
  });

  test("makes a theme that no list of themes shows and no link can have", async () => {
    const { pageThemeId } = await create();
    expect((await rest("GET", "/v1/page-themes")).json).toMatchObject({ pageThemes: [], totalCount: "0" });
    const linkId = await makers.link(api, workspace);
    expect((await rest("PATCH", `/v1/links/${linkId}`, { pageThemeId })).status).toBe(404);
    expect((await rest("GET", `/v1/page-themes/${pageThemeId}`)).status).toBe(200);
  });

  test.each<[string, string, JsonObject]>([
    ["questions of another form", "faq", { faq: '[{"question":"a"}]' }],
    ["a long name", "name", { name: "x".repeat(256) }],
    ["a color that is none", "styling.canvasColor", { styling: { canvasColor: { colors: ["red;"] } } }],
    ["a theme that is not there", "sourcePageThemeId", { sourcePageThemeId: missing }],
    ["a media file that is not there", "styling.badge.id", { styling: { badge: { id: missing } } }],
  ])("refuses %s, names %s and writes nothing, over REST and gRPC", async (_, field, fields) => {
    for (const protocol of ["rest", "grpc"] as const) {
      const { reason, message } = await ask(
        api,
        protocol,
        method.createPageThemeTemplate,
        fields,
        workspace.token,
      );
      expect(["INVALID_ARGUMENT", "NOT_FOUND"]).toContain(reason);
      expect(message).toContain(field);
    }
    expect((await rest("GET", templates)).json.totalCount).toBe("0");
    expect(
      (
        await db
          .selectFrom("page_themes")
          .select("id")
          .where("workspace_id", "=", workspace.workspaceId)
          .execute()
      ).length,
    ).toBe(0);
  });

  test("refuses a media file of another type", async () => {
    const badge = await upload("BADGE", "#112233");
    const reply = await rest("POST", templates, { styling: { canvasCover: { id: badge } } });
    expect([reply.status, reply.json.error.message]).toEqual([
      400,
      `styling.canvasCover.id: media file ${badge} is of the type BADGE; upload one of the type BACKGROUND_COVER`,
    ]);
  });
});

describe("update", () => {
  test("changes what is present and nothing else; nothing present changes nothing", async () => {
    const before = await create({ description: "First", tags: "a,b" });
    const path = `${templates}/${before.id}`;
    const { json } = await rest("PATCH", path, { description: "", learnMore: "# More" });
    const { updatedAt } = json.pageThemeTemplate;
    expect(json.pageThemeTemplate).toEqual({ ...before, description: "", learnMore: "# More", updatedAt });
    expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    expect((await rest("PATCH", path, {})).json).toEqual(json);
    for (const bad of [{ name: "" }, { slug: "No" }, { faq: "{" }])
      expect((await rest("PATCH", path, bad)).status).toBe(400);
    expect(await read(before.id)).toMatchObject(json.pageThemeTemplate);
  });

  test("a slug belongs to one template of all workspaces and built-in ones, until it is cleared", async () => {
    const [one, other] = [await create(), await api.newWorkspace()];
    const theirs = await create({}, other);
    const slug = `mine-${one.id}`;
    await rest("PATCH", `${templates}/${one.id}`, { slug });
    for (const taken of [slug, "plain"])
      expect(refusal(await other.rest("PATCH", `${templates}/${theirs.id}`, { slug: taken }))).toEqual([
        409,
        "SLUG_TAKEN",
      ]);
    await rest("PATCH", `${templates}/${one.id}`, { slug: "" });
    expect((await other.rest("PATCH", `${templates}/${theirs.id}`, { slug })).status).toBe(200);
    // QR code templates have slugs of their own.
    const code = (await rest("POST", "/v1/qrcode-templates", {})).json.qrcodeTemplate;
    expect((await rest("PATCH", `/v1/qrcode-templates/${code.id}`, { slug })).status).toBe(200);
  });

  test("two published templates that are raced for one slug: one has it, the other is told so", async () => {
    for (let round = 0; round < 5; round++) {
      const pair = [await create({ description: "a" }), await create({ description: "b" })];
      const slug = `raced-${pair[0].id}`;
      await open();
      const take = async ({ id }: { readonly id: string }) => {
        const named = await rest("PATCH", `${templates}/${id}`, { slug });
        return named.status === 200 ? rest("POST", `${templates}/${id}/publish`) : named;
      };
      const replies = await Promise.all(pair.map(take));
      const statuses = replies.map(({ status }) => status);
      expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 409]);
      const winner = pair[statuses.indexOf(200)];
      const shown = (await anyone("GET", `/v1/public/page-theme-templates/${slug}`)).json;
      expect(shown.description).toBe(winner.description);
    }
  });
});

describe("styling", () => {
  const restyle = (id: string, fields: object) => rest("PATCH", `${templates}/${id}/styling`, fields);

  test("changes what is named, redraws the thumbnail, and does neither for the same look again", async () => {
    const cover = await upload("BACKGROUND_COVER", "#225544");
    const before = await create({ styling: { badgeEnabled: true } });
    const fields = { canvasCover: { id: cover }, titleFont: { fontSize: 40, bold: true } };
    const { pageThemeTemplate } = (await restyle(before.id, fields)).json;
    const { thumbnailPendingUpdateSince } = pageThemeTemplate;
    expect(Date.parse(thumbnailPendingUpdateSince)).toBeGreaterThan(Date.parse(before.createdAt));
    expect(await jobsOf(before.id)).toBe(2);
    expect(await bytesAt(pageThemeTemplate.coverSignedUrl)).not.toBe("");
    const { pageTheme } = await read(before.id);
    expect(pageTheme).toMatchObject({
      badgeEnabled: true,
      canvasCoverId: cover,
      titleFont: { fontSize: 40 },
    });
    expect((await restyle(before.id, fields)).json.pageThemeTemplate).toMatchObject({
      thumbnailPendingUpdateSince,
      updatedAt: pageThemeTemplate.updatedAt,
    });
    expect(await jobsOf(before.id)).toBe(2);
    const taken = await restyle(before.id, { canvasCover: { delete: {} } });
    expect(taken.json.pageThemeTemplate.coverSignedUrl).toBe("");
  });

  test("is the same by the template and by its theme", async () => {
    const { id, pageThemeId } = await create();
    const byTheme = await rest("PATCH", `/v1/page-themes/${pageThemeId}`, { badgeEnabled: true });
    expect(byTheme.status).toBe(200);
    expect(await jobsOf(id)).toBe(2);
    const { pageTheme, thumbnailPendingUpdateSince } = await read(id);
    expect(pageTheme).toMatchObject({ badgeEnabled: true });
    expect(thumbnailPendingUpdateSince).toBe(byTheme.json.pageTheme.updatedAt);
    const both = await Promise.all([
      restyle(id, { elementColor: solid("#0a7c66") }),
      rest("PATCH", `/v1/page-themes/${pageThemeId}`, { bodyFont: { fontSize: 20 } }),
    ]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect((await read(id)).pageTheme).toMatchObject({
      elementColor: solid("#0a7c66"),
      bodyFont: { fontSize: 20 },
    });
  });

  test.each<[string, JsonObject]>([
    ["canvasColor", { canvasColor: { type: "THEME_COLOR_TYPE_LINEAR", colors: ["#fff"] } }],
    ["titleFont.familyStack", { titleFont: { familyStack: "x;}*{color:red" } }],
    ["containerConfig.opacity", { containerConfig: { variant: 1, opacity: 101 } }],
    ["canvasCover.id", { canvasCover: { id: missing } }],
  ])("refuses a bad %s and writes nothing, over REST and gRPC", async (field, fields) => {
    const { id } = await create();
    const before = await read(id);
    for (const protocol of ["rest", "grpc"] as const) {
      const update = method.updatePageThemeTemplateStyling;
      const request = { id, badgeEnabled: true, ...fields };
      const { reason, message } = await ask(api, protocol, update, request, workspace.token);
      expect(["INVALID_ARGUMENT", "NOT_FOUND"]).toContain(reason);
      expect(message).toContain(field);
    }
    expect(await read(id)).toEqual(before);
    expect(await jobsOf(id)).toBe(1);
  });
});

describe("the gallery", () => {
  test("shows a published template with its look to everyone, and hides it with its workspace", async () => {
    const cover = await upload("BACKGROUND_COVER", "#775511");
    const { id, slug } = await publish({ styling: { canvasCover: { id: cover } } });
    const path = `/v1/public/page-theme-templates/${slug}`;
    const shown = (await anyone("GET", path)).json;
    expect(shown).toMatchObject({ slug, name: "Ours", builtIn: false, pageTheme: { canvasCoverId: cover } });
    expect(shown).not.toHaveProperty("workspace");
    expect(await bytesAt(shown.coverSignedUrl)).not.toBe("");
    const query = `workspaceId=${workspace.workspaceId}&include=workspace`;
    const listed = (await anyone("GET", `/v1/public/page-theme-templates?${query}`)).json;
    expect(listed).toMatchObject({ hasMore: false, pageThemeTemplates: [{ slug, workspace: {} }] });
    expect(refusal(await rest("PATCH", `${templates}/${id}`, { slug: "another" }))).toEqual([
      412,
      "SLUG_IMMUTABLE",
    ]);
    const again = (await rest("POST", `${templates}/${id}/publish`)).json.pageThemeTemplate;
    expect(again.publishedAt).toBe(shown.publishedAt);
    const other = await api.newWorkspace();
    expect((await read(id, other)).owned).toBe(false);
    await open(null);
    expect((await anyone("GET", path)).status).toBe(404);
    expect((await other.rest("GET", `${templates}/${id}`)).status).toBe(404);
    expect(refusal(await importIt(slug, other))).toEqual([404, "NOT_FOUND"]);
    expect((await anyone("GET", `/v1/public/page-theme-templates?${query}`)).json.pageThemeTemplates).toEqual(
      [],
    );
    expect((await read(id)).slug).toBe(slug);
  });

  test("names everything that keeps a template from being published, over REST and gRPC", async () => {
    const { id } = await create();
    const reply = await rest("POST", `${templates}/${id}/publish`);
    expect(refusal(reply)).toEqual([412, "TEMPLATE_NOT_PUBLISHABLE"]);
    for (const missed of ["workspace public", "slug", "description"])
      expect(reply.json.error.message).toContain(missed);
    const grpc = await ask(api, "grpc", method.publishPageThemeTemplate, { id }, workspace.token);
    expect([grpc.reason, grpc.message]).toEqual(["TEMPLATE_NOT_PUBLISHABLE", reply.json.error.message]);
  });

  test("ends with the six built-in templates, which can be used but not changed", async () => {
    const { json } = await anyone("GET", "/v1/public/page-theme-templates?pageSize=100");
    const builtIn = json.pageThemeTemplates.slice(-6);
    expect(builtIn.map((each: { builtIn: boolean }) => each.builtIn)).toEqual(Array(6).fill(true));
    expect(builtIn[0].pageTheme).toMatchObject({ workspaceId: "" });
    const list = `${templates}?scope=PAGE_THEME_TEMPLATE_SCOPE_AVAILABLE&search=${builtIn[0].name}`;
    const { id } = (await rest("GET", list)).json.pageThemeTemplates[0];
    const before = await read(id);
    expect(before).toMatchObject({ workspaceId: "", owned: false, builtIn: true });
    for (const reply of [
      await rest("PATCH", `${templates}/${id}`, { name: "Mine" }),
      await rest("PATCH", `${templates}/${id}/styling`, { badgeEnabled: true }),
      await rest("POST", `${templates}/${id}/publish`),
      await rest("DELETE", `${templates}/${id}`),
    ])
      expect(refusal(reply)).toEqual([403, "BUILT_IN_TEMPLATE"]);
    expect(
      (await rest("PATCH", `/v1/page-themes/${before.pageThemeId}`, { badgeEnabled: true })).status,
    ).toBe(404);
    expect(await read(id)).toEqual(before);
  });
});

describe("import", () => {
  test("makes a whole private copy with files of its own, as often as wanted", async () => {
    const [cover, badge] = [await upload("BACKGROUND_COVER", "#0b3d2e"), await upload("BADGE", "#f4a259")];
    const styling = { canvasCover: { id: cover }, badge: { id: badge }, badgeEnabled: true };
    const { id, slug } = await publish({ styling, tags: "menu" });
    const files = await Promise.all(
      [(await read(id)).coverSignedUrl, (await read(id)).badgeSignedUrl].map(bytesAt),
    );
    const other = await api.newWorkspace();
    const copy = (await importIt(slug, other)).json.pageThemeTemplate;
    expect(copy).toMatchObject({ name: "Ours", tags: "menu", slug: "", duplicatedFrom: id, owned: true });
    expect(copy).not.toHaveProperty("publishedAt");
    expect(await jobsOf(copy.id)).toBe(1);
    const second = (await importIt(slug, other)).json.pageThemeTemplate;
    expect(second.id).not.toBe(copy.id);
    // The same content is stored once.
    expect((await other.rest("GET", "/v1/media")).json.media).toHaveLength(2);
    await rest("DELETE", `${templates}/${id}`);
    for (const file of [cover, badge]) expect((await rest("DELETE", `/v1/media/${file}`)).status).toBe(200);
    clock.advance(3 * 60 * 60 * 1000);
    while ((await sweepFiles(db, { storage, now: clock.now })) > 0);
    const kept = await read(copy.id, other);
    expect(await Promise.all([kept.coverSignedUrl, kept.badgeSignedUrl].map(bytesAt))).toEqual(files);
    expect(kept.pageTheme).toMatchObject({ badgeEnabled: true, workspaceId: other.workspaceId });
  });

  test("works for own and built-in templates, with their files, and for nothing that is not public", async () => {
    const { slug } = await publish();
    expect((await importIt(slug, workspace)).status).toBe(200);
    const { pageThemeTemplate } = (await importIt("daybreak", workspace)).json;
    expect(await bytesAt(pageThemeTemplate.coverSignedUrl)).not.toBe("");
    const { id } = await create();
    await rest("PATCH", `${templates}/${id}`, { slug: `hidden-${id}` });
    for (const unknown of [`hidden-${id}`, "nothing-of-this-name"]) {
      expect(refusal(await importIt(unknown, workspace))).toEqual([404, "NOT_FOUND"]);
      const grpc = await ask(api, "grpc", method.importPageThemeTemplate, { slug: unknown }, workspace.token);
      expect(grpc.reason).toBe("NOT_FOUND");
    }
  });

  test("of a template that is being deleted, or whose workspace is being hidden, is whole or is none", async () => {
    const other = await api.newWorkspace();
    for (const end of ["delete", "hide"] as const)
      for (let round = 0; round < 3; round++) {
        const cover = await upload("BACKGROUND_COVER", `#11${round}${end === "hide" ? "a" : "b"}33`);
        const { id, slug } = await publish({ styling: { canvasCover: { id: cover } } });
        const wanted = await bytesAt((await read(id)).coverSignedUrl);
        const ending = async () => {
          if (end === "hide") return open(null);
          await rest("DELETE", `${templates}/${id}`);
          await rest("DELETE", `/v1/media/${cover}`);
        };
        const [reply] = await Promise.all([importIt(slug, other), ending()]);
        if (reply.status === 404) continue;
        expect(reply.status).toBe(200);
        const { pageThemeTemplate } = reply.json;
        expect(await bytesAt((await read(pageThemeTemplate.id, other)).coverSignedUrl)).toBe(wanted);
      }
  });
});

test("images:resolve answers fresh addresses for what the caller can see", async () => {
  const cover = await upload("BACKGROUND_COVER", "#445566");
  const [own, published] = [await create({ styling: { canvasCover: { id: cover } } }), await publish()];
  await open();
  const templateIds = [own.id, published.id, missing];
  for (const protocol of ["rest", "grpc"] as const) {
    const resolve = method.resolvePageThemeTemplateImages;
    const { body } = await ask(api, protocol, resolve, { templateIds }, workspace.token);
    const { images } = body as { images: Record<string, { coverSignedUrl: string }> };
    expect(new Set(Object.keys(images))).toEqual(new Set([own.id, published.id]));
    expect(images[published.id]).toMatchObject({ thumbnailSignedUrl: "", coverSignedUrl: "" });
    await bytesAt(images[own.id]?.coverSignedUrl ?? "");
  }
  const other = await api.newWorkspace();
  const { json } = await other.rest("POST", `${templates}/images:resolve`, { templateIds });
  expect(Object.keys(json.images)).toEqual([published.id]);
  for (const bad of [[], Array(101).fill(own.id), ["no-id"]])
    expect((await rest("POST", `${templates}/images:resolve`, { templateIds: bad })).status).toBe(400);
});

test("delete takes the template and its theme, and leaves links their look without the template", async () => {
  const { id, slug } = await publish({ styling: { elementColor: solid("#7c2d12") } });
  const { pageThemeId } = await read(id);
  const links = [];
  for (const by of [workspace, await api.newWorkspace()]) {
    const linkId = await makers.link(api, by);
    const dressed = await by.rest("POST", "/v1/page-themes/apply-template", { linkId, slug });
    expect(dressed.status).toBe(200);
    links.push({ by, linkId, theme: dressed.json.pageTheme });
  }
  expect((await rest("DELETE", `${templates}/${id}`)).json).toEqual({});
  expect(refusal(await rest("DELETE", `${templates}/${id}`))).toEqual([404, "NOT_FOUND"]);
  expect((await rest("GET", `/v1/page-themes/${pageThemeId}`)).status).toBe(404);
  expect((await anyone("GET", `/v1/public/page-theme-templates/${slug}`)).status).toBe(404);
  for (const { by, linkId, theme } of links) {
    const { link } = (await by.rest("GET", `/v1/links/${linkId}?include=pageTheme`)).json;
    expect([link.pageThemeTemplateId, link.pageTheme]).toEqual(["", theme]);
  }
  expect((await rest("PATCH", `${templates}/${(await create()).id}`, { slug })).status).toBe(200);
});

test("all that can be used are listed by use, own ones before others, in pages, with their number and their look", async () => {
  const { id: liked } = await publish();
  await db.updateTable("page_theme_templates").set({ name: "Liked" }).where("id", "=", liked).execute();
  const me = await api.newWorkspace();
  const [first, often] = [await create({ name: "First" }, me), await create({ name: "Often" }, me)];
  for (const pageThemeTemplateId of [often.id, often.id, liked]) {
    const linkId = await makers.link(api, me);
    await me.rest("POST", "/v1/page-themes/apply-template", { linkId, pageThemeTemplateId });
  }
  const shown: { name: string; usageCount: string; pageTheme: object }[] = [];
  for (let pageToken = ""; ; ) {
    const query = new URLSearchParams({ pageSize: "2", pageToken, include: "pageTheme" });
    const path = `${templates}?scope=PAGE_THEME_TEMPLATE_SCOPE_AVAILABLE&${query}`;
    const { json } = await me.rest("GET", path);
    shown.push(...json.pageThemeTemplates);
    expect(json.hasMore).toBe(json.nextPageToken !== "");
    pageToken = json.nextPageToken;
    if (pageToken === "") {
      expect(json.totalCount).toBe(String(shown.length));
      break;
    }
  }
  expect(shown.slice(0, 3).map(({ name, usageCount }) => [name, usageCount])).toEqual([
    ["Often", "2"],
    ["Liked", "1"],
    ["First", "0"],
  ]);
  expect(shown.every(({ pageTheme }) => pageTheme !== undefined)).toBe(true);
  const own = (await me.rest("GET", `${templates}?search=irs`)).json;
  expect(own).toMatchObject({ totalCount: "1", pageThemeTemplates: [{ id: first.id }] });
  const numbers = (await me.rest("GET", "/v1/metrics/workspace")).json;
  expect(numbers.totalPageThemeTemplates).toBe(2);
});

test("a slug that nobody has, and one of another kind, is refused by its name", async () => {
  const { status, json } = await anyone("GET", `/v1/public/page-theme-templates/${randomUUID()}`);
  expect([status, json.error.codeType]).toEqual([404, "NOT_FOUND"]);
  expect((await anyone("GET", "/v1/public/page-theme-templates/classic")).status).toBe(404);
});
