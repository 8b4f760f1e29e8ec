import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import sharp from "sharp";
import { beforeEach, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { QrcodeTemplatesService } from "../../../gen/signpost/v1/qrcode_templates_service_pb.js";
import { readWithZxing } from "../../../test/support/qr-readers.ts";
import { type Reply, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { sweepFiles } from "../../db/file-checks.ts";
import { storeBuiltInTemplates } from "../../jobs/built-in-templates.ts";
import { renderThumbnail } from "../../jobs/pictures/render-thumbnail.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import { everyScope } from "../../model/scope.ts";
import { builtInDesigns } from "../../qr/designs/built-in-designs.ts";

const api = await startApi();
const { clock, db, storage } = api;
const anyone = api.rest();

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

async function create(fields: object = {}) {
  const { status, json } = await rest("POST", "/v1/qrcode-templates", { name: "Ours", ...fields });
  expect(status, JSON.stringify(json)).toBe(200);
  return json.qrcodeTemplate;
}

function patch(id: string, fields: object, call = rest): Promise<Reply> {
  return call("PATCH", `/v1/qrcode-templates/${id}`, fields);
}

function read(id: string, call = rest): Promise<Reply> {
  return call("GET", `/v1/qrcode-templates/${id}?include=qrcodeDesign`);
}

/** Makes the workspace public, as its own service will. */
async function openWorkspace({ workspaceId } = workspace, published_at: Date | null = clock.now()) {
  await db.updateTable("workspaces").set({ published_at }).where("id", "=", workspaceId).execute();
}

function newSlug(): string {
  return `ours-${randomUUID()}`;
}

/** A template in the gallery, with its slug. */
async function publish(fields: object = {}): Promise<{ readonly id: string; readonly slug: string }> {
  await openWorkspace();
  const { id } = await create({ description: "For menus", ...fields });
  const slug = newSlug();
  await patch(id, { slug });
  const { status, json } = await rest("POST", `/v1/qrcode-templates/${id}/publish`);
  expect(status, JSON.stringify(json)).toBe(200);
  return { id, slug };
}

async function createDesign(fields: object = {}): Promise<string> {
  return (await anyone("POST", "/v1/public/qrcode-designs", fields)).json.qrcodeDesign.id;
}

/** Does what the worker does for a template. */
async function draw(templateId: string, workspaceId = workspace.workspaceId): Promise<void> {
  const task = renderThumbnail({ db, storage, now: clock.now, shortUrl: "https://short.test" });
  await task({ workspaceId, templateId }, new AbortController().signal);
}

async function fetchFile(url: string) {
  return fetch(url.replace("http://api.test", `http://127.0.0.1:${api.port}`));
}

function refusal({ status, json }: Reply) {
  return [status, json.error.codeType];
}

describe("create", () => {
  test("makes a private template of the default design", async () => {
    const { json } = await rest("POST", "/v1/qrcode-templates", {});
    const template = json.qrcodeTemplate;
    expect(template).toMatchObject({
      workspaceId: workspace.workspaceId,
      name: "Untitled template",
      slug: "",
      description: "",
      tags: "",
      learnMore: "",
      faq: "",
      builtIn: false,
      thumbnailSignedUrl: "",
      thumbnailPendingUpdateSince: template.createdAt,
    });
    expect(template).not.toHaveProperty("publishedAt");
    expect(template).not.toHaveProperty("duplicatedFrom");
    const shown = (await read(template.id)).json;
    expect(shown.qrcodeDesign).toMatchObject({ id: template.qrcodeDesignId, width: 512 });
    expect({ ...shown, qrcodeDesign: undefined }).toEqual({ ...template, qrcodeDesign: undefined });
  });

  test("takes a design that belongs to nothing, once", async () => {
    const qrcodeDesignId = await createDesign({ shape: "SHAPE_CIRCLE" });
    const template = await create({ qrcodeDesignId });
    expect(template.qrcodeDesignId).toBe(qrcodeDesignId);
    expect((await read(template.id)).json.qrcodeDesign.shape).toBe("SHAPE_CIRCLE");
    expect(
      (await (await api.newWorkspace()).rest("GET", `/v1/qrcode-designs/${qrcodeDesignId}`)).status,
    ).toBe(404);
    const again = await rest("POST", "/v1/qrcode-templates", { qrcodeDesignId });
    expect(refusal(again)).toEqual([412, "DESIGN_IN_USE"]);
    expect(refusal(await rest("DELETE", `/v1/qrcode-designs/${qrcodeDesignId}`))).toEqual([
      412,
      "DESIGN_IN_USE",
    ]);
    const { link } = (await rest("POST", "/v1/links", { destination: "https://example.com" })).json;
    const ofLink = await rest("POST", "/v1/qrcode-templates", { qrcodeDesignId: link.qrcodeDesignId });
    expect(refusal(ofLink)).toEqual([412, "DESIGN_IN_USE"]);
    const missing = await rest("POST", "/v1/qrcode-templates", { qrcodeDesignId: randomUUID() });
    expect(refusal(missing)).toEqual([404, "NOT_FOUND"]);
  });

  test.each(["{", "[1]", '{"question":"a","answer":"b"}', '[{"question":"a"}]'])(
    "refuses questions and answers in another form: %s",
    async (faq) => {
      const reply = await rest("POST", "/v1/qrcode-templates", { faq });
      expect(refusal(reply)).toEqual([400, "INVALID_ARGUMENT"]);
      expect(JSON.stringify(reply.json.error.details)).toContain('"field":"faq"');
      const { id } = await create();
      expect((await patch(id, { faq })).status).toBe(400);
    },
  );
});

describe("update", () => {
  test("changes what is present and nothing else; nothing present changes nothing", async () => {
    const before = await create({ description: "First", tags: "a,b" });
    const faq = JSON.stringify([{ question: "Why?", answer: "Because." }]);
    const { json } = await patch(before.id, { description: "", faq, learnMore: "# More" });
    expect(json.qrcodeTemplate).toEqual({
      ...before,
      description: "",
      faq,
      learnMore: "# More",
      updatedAt: json.qrcodeTemplate.updatedAt,
    });
    expect(Date.parse(json.qrcodeTemplate.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    expect((await patch(before.id, {})).json).toEqual(json);
    expect((await patch(before.id, { name: "" })).status).toBe(400);
  });

  test("gives a slug to one template of all workspaces, and frees it when it is cleared", async () => {
    const [one, slug] = [await create(), newSlug()];
    expect((await patch(one.id, { slug })).json.qrcodeTemplate.slug).toBe(slug);
    const other = await api.newWorkspace();
    const theirs = (await other.rest("POST", "/v1/qrcode-templates", {})).json.qrcodeTemplate.id;
    for (const taken of [slug, "classic"])
      expect(refusal(await patch(theirs, { slug: taken }, other.rest))).toEqual([409, "SLUG_TAKEN"]);
    expect((await patch(one.id, { slug })).status).toBe(200);
    expect((await patch(one.id, { slug: "" })).json.qrcodeTemplate.slug).toBe("");
    expect((await patch(theirs, { slug }, other.rest)).json.qrcodeTemplate.slug).toBe(slug);
    for (const wrong of ["ab", "Upper", "with space", "a".repeat(65)])
      expect((await patch(one.id, { slug: wrong })).status).toBe(400);
  });
});

describe("publish", () => {
  test("names everything that is missing", async () => {
    const { id } = await create();
    const reply = await rest("POST", `/v1/qrcode-templates/${id}/publish`);
    expect(refusal(reply)).toEqual([412, "TEMPLATE_NOT_PUBLISHABLE"]);
    expect(reply.json.error.details).toContainEqual({
      "@type": "type.googleapis.com/google.rpc.PreconditionFailure",
      violations: [
        expect.objectContaining({ type: "WORKSPACE_PUBLIC", subject: "workspace" }),
        expect.objectContaining({ type: "REQUIRED", subject: "slug" }),
        expect.objectContaining({ type: "REQUIRED", subject: "description" }),
      ],
    });
    const call = workspace.client(QrcodeTemplatesService).publishQrcodeTemplate({ id });
    const error = await call.then(() => undefined, ConnectError.from);
    expect(error?.code).toBe(Code.FailedPrecondition);
    expect(error?.findDetails(ErrorInfoSchema)[0]?.reason).toBe("TEMPLATE_NOT_PUBLISHABLE");
  });

  test("shows the template to everyone, once and for all", async () => {
    const { id, slug } = await publish();
    const shown = (await anyone("GET", `/v1/public/qrcode-templates/${slug}`)).json;
    expect(shown).toMatchObject({ slug, name: "Ours", description: "For menus", builtIn: false });
    expect(shown).not.toHaveProperty("workspace");
    expect(shown).not.toHaveProperty("id");
    const again = await rest("POST", `/v1/qrcode-templates/${id}/publish`);
    expect(again.json.qrcodeTemplate.publishedAt).toBe(shown.publishedAt);
    expect(refusal(await patch(id, { slug: newSlug() }))).toEqual([412, "SLUG_IMMUTABLE"]);
    expect(refusal(await patch(id, { slug: "" }))).toEqual([412, "SLUG_IMMUTABLE"]);
    expect((await patch(id, { slug, name: "Still ours" })).status).toBe(200);
  });

  test("ends for others when the workspace is no longer public", async () => {
    const { id, slug } = await publish();
    const other = await api.newWorkspace();
    expect((await read(id, other.rest)).status).toBe(200);
    await openWorkspace(workspace, null);
    expect((await anyone("GET", `/v1/public/qrcode-templates/${slug}`)).status).toBe(404);
    expect((await read(id, other.rest)).status).toBe(404);
    expect((await other.rest("POST", "/v1/qrcode-templates/import", { slug })).status).toBe(404);
    expect((await read(id)).status).toBe(200);
  });

  test("is not for sandboxes", async () => {
    const { id } = await create({ description: "For menus" });
    const token = await api.signToken({
      tokenId: randomUUID(),
      workspaceId: workspace.workspaceId,
      keyType: "SECRET",
      environment: "test",
      scope: everyScope,
      issuedAt: clock.now(),
    });
    const reply = await api.rest(token)("POST", `/v1/qrcode-templates/${id}/publish`);
    expect(refusal(reply)).toEqual([403, "NOT_AVAILABLE_IN_SANDBOX"]);
  });
});

describe("the gallery", () => {
  test("is newest first, in pages of 20, with built-in templates at the end", async () => {
    const { slug } = await publish();
    const first = (await anyone("GET", "/v1/public/qrcode-templates?pageSize=1")).json;
    expect(first.qrcodeTemplates).toMatchObject([{ slug }]);
    expect(first.hasMore).toBe(true);
    const slugs: string[] = [];
    let pageToken = "";
    do {
      const query = new URLSearchParams({ pageSize: "3", pageToken });
      const { json } = await anyone("GET", `/v1/public/qrcode-templates?${query}`);
      slugs.push(...json.qrcodeTemplates.map((template: { slug: string }) => template.slug));
      pageToken = json.nextPageToken;
      expect(json.hasMore).toBe(pageToken !== "");
    } while (pageToken !== "");
    expect(slugs.slice(-builtInDesigns.length)).toEqual(builtInDesigns.map((template) => template.slug));
    expect(new Set(slugs).size).toBe(slugs.length);
  });

  test("is searched by name and description, and by workspace", async () => {
    const { slug } = await publish({ name: `100% ${randomUUID()}` });
    const search = async (query: Record<string, string>) =>
      (
        await anyone("GET", `/v1/public/qrcode-templates?${new URLSearchParams(query)}`)
      ).json.qrcodeTemplates.map((template: { slug: string }) => template.slug);
    expect(await search({ search: "100% " })).toEqual([slug]);
    expect(await search({ search: "_" })).toEqual([]);
    expect(await search({ workspaceId: workspace.workspaceId })).toEqual([slug]);
    expect(await search({ search: "BLACK SQUARES ON WHITE" })).toEqual(["classic"]);
  });

  test("tells of the workspace when asked to", async () => {
    await db
      .updateTable("workspaces")
      .set({ name: "Café", slug: newSlug(), website: "https://cafe.example" })
      .where("id", "=", workspace.workspaceId)
      .execute();
    const { slug } = await publish();
    const one = (await anyone("GET", `/v1/public/qrcode-templates/${slug}?include=workspace`)).json;
    expect(one.workspace).toMatchObject({ name: "Café", website: "https://cafe.example" });
    const query = `workspaceId=${workspace.workspaceId}&include=workspace`;
    const listed = (await anyone("GET", `/v1/public/qrcode-templates?${query}`)).json.qrcodeTemplates[0];
    expect(listed.workspace).toEqual(one.workspace);
    const builtIn = (await anyone("GET", "/v1/public/qrcode-templates/classic?include=workspace")).json;
    expect(builtIn).not.toHaveProperty("workspace");
  });
});

describe("import", () => {
  test("makes a private copy that goes its own way, as often as wanted", async () => {
    const logo = await sharp({ create: { width: 40, height: 40, channels: 3, background: "#264653" } })
      .png()
      .toBuffer();
    const fields = {
      shape: "SHAPE_CIRCLE",
      centralImageData: logo.toString("base64"),
      centralImageSize: 0.2,
    };
    const { id, slug } = await publish({ qrcodeDesignId: await createDesign(fields), tags: "menu" });
    const other = await api.newWorkspace();
    const importIt = async () =>
      (await other.rest("POST", "/v1/qrcode-templates/import", { slug })).json.qrcodeTemplate;
    const [copy, second] = [await importIt(), await importIt()];
    expect(copy).toMatchObject({
      workspaceId: other.workspaceId,
      name: "Ours",
      description: "For menus",
      tags: "menu",
      slug: "",
      duplicatedFrom: id,
    });
    expect(copy).not.toHaveProperty("publishedAt");
    expect(second.id).not.toBe(copy.id);
    await rest("PATCH", `/v1/qrcode-designs/${(await read(id)).json.qrcodeDesignId}`, {
      shape: "SHAPE_SQUARE",
      centralImageDelete: true,
    });
    await rest("DELETE", `/v1/qrcode-templates/${id}`);
    clock.advance(3 * 60 * 60 * 1000);
    while ((await sweepFiles(db, { storage, now: clock.now })) > 0);
    const { qrcodeDesign } = (await read(copy.id, other.rest)).json;
    expect(qrcodeDesign.shape).toBe("SHAPE_CIRCLE");
    expect((await fetchFile(qrcodeDesign.centralImageSignedUrl)).status).toBe(200);
  });

  test("works for built-in and own templates, and for nothing that is not public", async () => {
    const { slug } = await publish();
    for (const known of [slug, "sunset"])
      expect((await rest("POST", "/v1/qrcode-templates/import", { slug: known })).status).toBe(200);
    const { id } = await create();
    const unpublished = newSlug();
    await patch(id, { slug: unpublished });
    for (const unknown of [unpublished, newSlug()])
      expect((await rest("POST", "/v1/qrcode-templates/import", { slug: unknown })).status).toBe(404);
  });
});

describe("list", () => {
  test("shows the workspace's own, newest first, in pages, and searches them", async () => {
    await publish();
    const other = await api.newWorkspace();
    const made: string[] = [];
    for (const name of ["Alpha", "Beta", "Gamma"]) {
      made.unshift((await other.rest("POST", "/v1/qrcode-templates", { name })).json.qrcodeTemplate.id);
    }
    const list = async (query: string) => (await other.rest("GET", `/v1/qrcode-templates?${query}`)).json;
    const first = await list("pageSize=2&include=qrcodeDesign");
    expect(first.qrcodeTemplates[0].qrcodeDesign.width).toBe(512);
    const second = await list(`pageSize=2&pageToken=${encodeURIComponent(first.nextPageToken)}`);
    expect([...first.qrcodeTemplates, ...second.qrcodeTemplates].map(({ id }) => id)).toEqual(made);
    expect([first.hasMore, second.hasMore, second.nextPageToken]).toEqual([true, false, ""]);
    expect((await list("search=bet")).qrcodeTemplates).toMatchObject([{ name: "Beta" }]);
  });
});

describe("built-in templates", () => {
  test("are at least eight, and can be used but not changed", async () => {
    expect(builtInDesigns.length).toBeGreaterThanOrEqual(8);
    const found = await db
      .selectFrom("qrcode_templates")
      .select(["id", "slug"])
      .where("workspace_id", "=", noWorkspace)
      .execute();
    expect(found).toHaveLength(builtInDesigns.length);
    const { id = "" } = found.find(({ slug }) => slug === "lagoon") ?? {};
    const { json } = await read(id);
    expect(json).toMatchObject({ id, workspaceId: "", builtIn: true, slug: "lagoon" });
    const calls = [
      patch(id, { name: "Mine" }),
      rest("POST", `/v1/qrcode-templates/${id}/publish`),
      rest("DELETE", `/v1/qrcode-templates/${id}`),
      rest("PATCH", `/v1/qrcode-designs/${json.qrcodeDesignId}`, { width: 100 }),
    ];
    for (const call of calls) expect(refusal(await call)).toEqual([403, "BUILT_IN_TEMPLATE"]);
    expect(refusal(await rest("DELETE", `/v1/qrcode-designs/${json.qrcodeDesignId}`))).toEqual([
      412,
      "DESIGN_IN_USE",
    ]);
  });

  test("are written once, and again where they have changed", async () => {
    const at = () =>
      db
        .selectFrom("qrcode_templates")
        .select(["slug", "updated_at"])
        .where("workspace_id", "=", noWorkspace);
    const before = await at().orderBy("slug").execute();
    await storeBuiltInTemplates(db, clock.now());
    expect(await at().orderBy("slug").execute()).toEqual(before);
    await db
      .updateTable("qrcode_templates")
      .set({ description: "Old" })
      .where("workspace_id", "=", noWorkspace)
      .where("slug", "=", "ink")
      .execute();
    await storeBuiltInTemplates(db, clock.now());
    const { description } = (await anyone("GET", "/v1/public/qrcode-templates/ink")).json;
    expect(description).not.toBe("Old");
  });

  test("give their look to links, by slug and by id, with the codes readable", async () => {
    const body = { destination: "https://example.com", shortlink: "looks" };
    const { link } = (await rest("POST", "/v1/links", body)).json;
    for (const { slug, options } of builtInDesigns) {
      const { json } = await rest("POST", "/v1/qrcode-designs/apply-template", {
        linkId: link.id,
        templateSlug: slug,
        requireScannable: true,
      });
      expect(json.scannability?.readable, slug).toBe(true);
      expect(json.qrcodeDesign).toMatchObject({
        id: link.qrcodeDesignId,
        dotsOptions: { type: (options.dotsOptions as { type: string }).type },
      });
    }
    const { qrcodeTemplateId } = (await rest("GET", `/v1/links/${link.id}`)).json.link;
    const made = await rest("POST", "/v1/links", { destination: "https://example.com", qrcodeTemplateId });
    expect(made.json.link.qrcodeTemplateId).toBe(qrcodeTemplateId);
    const patched = await rest("PATCH", `/v1/links/${made.json.link.id}`, { qrcodeTemplateId });
    expect(patched.status).toBe(200);
  });
});

describe("links", () => {
  test("made from a template, of the workspace or published by another, have a copy of its look", async () => {
    const own = await publish({ qrcodeDesignId: await createDesign({ width: 777 }) });
    const other = await api.newWorkspace();
    for (const call of [rest, other.rest]) {
      const { json } = await call("POST", "/v1/links", {
        destination: "https://example.com",
        qrcodeTemplateId: own.id,
      });
      const { link } = (await call("GET", `/v1/links/${json.link.id}?include=qrcodeDesign`)).json;
      expect(link.qrcodeTemplateId).toBe(own.id);
      expect(link.qrcodeDesign.width).toBe(777);
    }
    const { id: secret } = await create();
    const refused = await other.rest("POST", "/v1/links", {
      destination: "https://example.com",
      qrcodeTemplateId: secret,
    });
    expect(refused.status).toBe(404);
  });

  test("forget a template that is deleted, and keep their look", async () => {
    const { id, slug } = await publish({ qrcodeDesignId: await createDesign({ width: 600 }) });
    const other = await api.newWorkspace();
    const links = [];
    for (const call of [rest, other.rest]) {
      const { json } = await call("POST", "/v1/links", {
        destination: "https://example.com",
        qrcodeTemplateId: id,
      });
      links.push({ call, path: `/v1/links/${json.link.id}?include=qrcodeDesign` });
    }
    expect((await rest("DELETE", `/v1/qrcode-templates/${id}`)).json).toEqual({});
    for (const { call, path } of links) {
      const { link } = (await call("GET", path)).json;
      expect(link.qrcodeTemplateId).toBe("");
      expect(link.qrcodeDesign.width).toBe(600);
    }
    expect((await rest("DELETE", `/v1/qrcode-templates/${id}`)).status).toBe(404);
    expect((await anyone("GET", `/v1/public/qrcode-templates/${slug}`)).status).toBe(404);
    const heir = await create();
    expect((await patch(heir.id, { slug })).status).toBe(200);
  });
});

describe("thumbnails", () => {
  test("are codes in the design, drawn by the worker and again when the design changes", async () => {
    const template = await create({
      qrcodeDesignId: await createDesign({
        width: 100,
        height: 64,
        outputFileFormat: "OUTPUT_FILE_FORMAT_SVG",
      }),
    });
    await draw(template.id);
    const first = (await read(template.id)).json;
    expect(first).not.toHaveProperty("thumbnailPendingUpdateSince");
    const image = Buffer.from(await (await fetchFile(first.thumbnailSignedUrl)).arrayBuffer());
    expect(await sharp(image).metadata()).toMatchObject({ format: "png", width: 512, height: 512 });
    expect(await readWithZxing(image)).toHaveLength(1);

    const path = `/v1/qrcode-designs/${template.qrcodeDesignId}`;
    const { json } = await rest("PATCH", path, { dotsOptions: { type: "DOTS_TYPE_DOTS" } });
    const waiting = (await read(template.id)).json;
    expect(waiting.thumbnailPendingUpdateSince).toBe(json.qrcodeDesign.updatedAt);
    await draw(template.id);
    const second = (await read(template.id)).json;
    const keyOf = (url: string) => /\/(thumbnails\/[^?]+)/.exec(url)?.[1] ?? "";
    expect(keyOf(second.thumbnailSignedUrl)).not.toBe(keyOf(first.thumbnailSignedUrl));
    clock.advance(3 * 60 * 60 * 1000);
    while ((await sweepFiles(db, { storage, now: clock.now })) > 0);
    expect(await storage.get(keyOf(first.thumbnailSignedUrl))).toBeUndefined();
    expect(await storage.get(keyOf(second.thumbnailSignedUrl))).toBeDefined();
  });

  test("have fresh addresses by images:resolve, for what the caller can see", async () => {
    const [own, published] = [await create(), await publish()];
    await draw(own.id);
    await draw(published.id);
    const resolve = (call: TestWorkspace["rest"], templateIds: readonly string[]) =>
      call("POST", "/v1/qrcode-templates/images:resolve", { templateIds });
    const mine = (await resolve(rest, [own.id, published.id, randomUUID()])).json.thumbnailSignedUrls;
    expect(new Set(Object.keys(mine))).toEqual(new Set([own.id, published.id]));
    expect((await fetchFile(mine[own.id])).status).toBe(200);
    const other = await api.newWorkspace();
    const theirs = (await resolve(other.rest, [own.id, published.id])).json.thumbnailSignedUrls;
    expect(Object.keys(theirs)).toEqual([published.id]);
    const undrawn = await create();
    expect((await resolve(rest, [undrawn.id])).json).toEqual({ thumbnailSignedUrls: {} });
    const request = { templateIds: [own.id, undrawn.id] };
    const grpc = await workspace.client(QrcodeTemplatesService).resolveQrcodeTemplateImages(request);
    expect(Object.keys(grpc.thumbnailSignedUrls)).toEqual([own.id]);
    expect((await resolve(rest, [])).status).toBe(400);
    expect(
      (
        await resolve(
          rest,
          Array.from({ length: 101 }, () => own.id),
        )
      ).status,
    ).toBe(400);
    expect((await resolve(rest, ["no-id"])).status).toBe(400);
  });
});
