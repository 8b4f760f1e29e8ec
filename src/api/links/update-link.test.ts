import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { addDirectory } from "../../../test/support/add-directory.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();
const { db, now } = api;

let workspace: TestWorkspace;
let id: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  const body = { destination: "https://example.com", name: "Menu", purpose: "lunch", tags: ["a", "b"] };
  id = (await workspace.rest("POST", "/v1/links", body)).json.link.id;
});

async function patch(body: object) {
  return workspace.rest("PATCH", `/v1/links/${id}`, body);
}

async function read() {
  return (await workspace.rest("GET", `/v1/links/${id}?include=tags`)).json.link;
}

interface Named {
  readonly name: string;
}

async function addTheme(workspaceId: string): Promise<string> {
  const theme = randomUUID();
  const values = {
    workspace_id: workspaceId,
    id: theme,
    styling: "{}",
    created_at: now(),
    updated_at: now(),
  };
  await db.insertInto("page_themes").values(values).execute();
  return theme;
}

async function addTemplate(workspaceId: string, options: object): Promise<string> {
  const template = randomUUID();
  const design = randomUUID();
  const times = { created_at: now(), updated_at: now() };
  await db
    .insertInto("qrcode_designs")
    .values({ workspace_id: workspaceId, id: design, options: JSON.stringify(options), ...times })
    .execute();
  await db
    .insertInto("qrcode_templates")
    .values({ workspace_id: workspaceId, id: template, name: "Ours", look_id: design, ...times })
    .execute();
  return template;
}

test("changes the fields that are present and no other", async () => {
  const before = await read();
  const { status, json } = await patch({ name: "Dinner", fallbackDestination: "https://example.org" });
  expect(status).toBe(200);
  expect(json.link).toEqual({
    ...before,
    name: "Dinner",
    fallbackDestination: "https://example.org",
    updatedAt: json.link.updatedAt,
  });
  expect(Date.parse(json.link.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
  expect(await read()).toEqual(json.link);
});

test("clears optional fields that are present and empty, and keeps a name", async () => {
  await patch({ fallbackDestination: "https://example.org" });
  const { json } = await patch({ fallbackDestination: "", purpose: "", name: null });
  expect(json.link).toMatchObject({ fallbackDestination: "", purpose: "", name: "Menu" });
  const { status, json: refused } = await patch({ name: "" });
  expect([status, refused.error.codeType]).toEqual([400, "INVALID_ARGUMENT"]);
});

test("leaves the time of the last change when there is nothing to change", async () => {
  const before = await read();
  for (const body of [
    {},
    { name: "Menu" },
    { tags: ["A", "b"] },
    { directoryIdDelete: true },
    { pageThemeId: "" },
  ])
    expect((await patch(body)).json.link).toEqual(before);
  expect(await read()).toEqual(before);
});

test("replaces tags whole, in the order asked for, and removes them", async () => {
  const names = (link: { readonly tags: Named[] }) => link.tags.map(({ name }) => name);
  const replaced = (await patch({ tags: ["c", "B"] })).json.link;
  expect(names(replaced)).toEqual(["c", "b"]);
  expect(names(await read())).toEqual(["c", "b"]);
  expect(names((await patch({ tags: ["b", "c"] })).json.link)).toEqual(["b", "c"]);
  expect(names((await patch({ tagsDelete: true })).json.link)).toEqual([]);
  await patch({ tags: ["a"] });
  expect(names((await patch({ tags: [] })).json.link)).toEqual([]);
  expect(names(await read())).toEqual([]);
});

test("moves a link into a directory and out of it", async () => {
  const directoryId = await addDirectory(workspace);
  expect((await patch({ directoryId })).json.link.directoryId).toBe(directoryId);
  expect((await patch({ directoryId: "" })).json.link.directoryId).toBe(directoryId);
  expect((await patch({ directoryIdDelete: true })).json.link.directoryId).toBe("");
});

test("sets and clears the page theme", async () => {
  const pageThemeId = await addTheme(workspace.workspaceId);
  expect((await patch({ pageThemeId })).json.link.pageThemeId).toBe(pageThemeId);
  const embedded = await workspace.rest("GET", `/v1/links/${id}?include=pageTheme`);
  expect(embedded.json.link.pageTheme).toMatchObject({ id: pageThemeId, workspaceId: workspace.workspaceId });
  expect((await patch({ pageThemeId: "" })).json.link.pageThemeId).toBe("");
});

test("keeps the template that the look was copied from until the theme is replaced or cleared", async () => {
  const template = randomUUID();
  const theme = await addTheme(workspace.workspaceId);
  const copied = { page_theme_id: theme, page_theme_template_id: template };
  for (const [change, kept] of [
    [{ name: "Dinner" }, template],
    [{ pageThemeId: theme }, template],
    [{ pageThemeId: await addTheme(workspace.workspaceId) }, ""],
    [{ pageThemeId: "" }, ""],
  ] as const) {
    await db.updateTable("links").set(copied).where("id", "=", id).execute();
    expect((await patch(change)).json.link.pageThemeTemplateId, Object.keys(change)[0]).toBe(kept);
    expect((await read()).pageThemeTemplateId).toBe(kept);
  }
});

test("shows the exact families of an embedded theme's fonts", async () => {
  const pageThemeId = await addTheme(workspace.workspaceId);
  const titleFont = { family: "PAGE_THEME_FONT_FAMILY_GEORGIA", familyStack: "Inter, sans-serif" };
  const styling = JSON.stringify({ titleFont });
  await db.updateTable("page_themes").set({ styling }).where("id", "=", pageThemeId).execute();
  await patch({ pageThemeId });
  const { json } = await workspace.rest("GET", `/v1/links/${id}?include=pageTheme`);
  expect(json.link.pageTheme.titleFont).toMatchObject(titleFont);
});

test("copies a template's styling onto the design and draws the code again, once", async () => {
  await db.updateTable("links").set({ qrcode_pending_update_since: null }).where("id", "=", id).execute();
  const qrcodeTemplateId = await addTemplate(workspace.workspaceId, { width: 900 });
  const { link } = (await patch({ qrcodeTemplateId })).json;
  expect(link).toMatchObject({ qrcodeTemplateId, qrcodePendingUpdateSince: link.updatedAt });
  const jobs = async () =>
    (
      await api.database.pool.query(
        "select from graphile_worker._private_jobs where payload->>'linkId' = $1",
        [id],
      )
    ).rowCount;
  expect(await jobs()).toBe(2);
  expect((await patch({ qrcodeTemplateId })).json.link).toEqual(link);
  expect(await jobs()).toBe(2);
  const { link: kept } = (await patch({ qrcodeTemplateIdDelete: true })).json;
  expect(kept).toMatchObject({ qrcodeTemplateId: "", qrcodeDesignId: link.qrcodeDesignId });
  const { json } = await workspace.rest("GET", `/v1/links/${id}?include=qrcodeDesign`);
  expect(json.link.qrcodeDesign).toMatchObject({ id: link.qrcodeDesignId, width: 900 });
});

test("refuses a value together with the flag that deletes it", async () => {
  const { status, json } = await patch({
    tags: ["x"],
    tagsDelete: true,
    directoryId: randomUUID(),
    directoryIdDelete: true,
    qrcodeTemplateId: randomUUID(),
    qrcodeTemplateIdDelete: true,
  });
  expect([status, json.error.codeType]).toEqual([400, "MUTUALLY_EXCLUSIVE_FIELDS"]);
  const fields = json.error.details.flatMap((detail: { fieldViolations?: { field: string }[] }) =>
    (detail.fieldViolations ?? []).map(({ field }) => field),
  );
  expect(fields).toEqual(["tags", "directoryId", "qrcodeTemplateId"]);
  expect((await patch({ tags: ["x"], tagsDelete: false })).status).toBe(200);
});

test("screens the fallback", async () => {
  const bad = await patch({ fallbackDestination: "javascript:alert(1)" });
  expect([bad.status, bad.json.error.codeType]).toEqual([400, "INVALID_DESTINATION"]);
  const values = { host: "worse.example", reason: "malware", created_at: now() };
  await db.insertInto("blocked_hosts").values(values).execute();
  const blocked = await patch({ fallbackDestination: "https://a.worse.example" });
  expect([blocked.status, blocked.json.error.codeType]).toEqual([400, "MALICIOUS_URL"]);
});

test("does not know the records of others", async () => {
  const other = await api.newWorkspace();
  const before = await read();
  const foreign: [string, string][] = [
    ["directoryId", await addDirectory(other)],
    ["pageThemeId", await addTheme(other.workspaceId)],
    ["qrcodeTemplateId", await addTemplate(other.workspaceId, { width: 80 })],
  ];
  for (const [field, theirs] of foreign) {
    const unknown = randomUUID();
    const refused = await patch({ name: "changed", [field]: theirs });
    const nobodys = await patch({ name: "changed", [field]: unknown });
    expect(refused.status).toBe(404);
    expect(refused.json.error.message).toBe(nobodys.json.error.message.replace(unknown, theirs));
  }
  expect(await read()).toEqual(before);
});

test("takes an empty mask for the fields that are not empty, and refuses to change others", async () => {
  const client = workspace.client(LinksService);
  const { link } = await client.update({ id, purpose: "supper" });
  expect(link).toMatchObject({ name: "Menu", purpose: "supper" });
  const masked = await client.update({
    id,
    purpose: "",
    name: "kept out",
    updateMask: { paths: ["purpose"] },
  });
  expect(masked.link).toMatchObject({ name: "Menu", purpose: "" });
  await expect(client.update({ id, updateMask: { paths: ["shortlink"] } })).rejects.toThrow(/updateMask/);
});

test("writes the last of changes made at once, and all that do not collide", async () => {
  await Promise.all([
    patch({ name: "one" }),
    patch({ purpose: "two" }),
    patch({ tags: ["x", "y"] }),
    patch({ tags: ["y", "x"] }),
    patch({ fallbackDestination: "https://example.org" }),
  ]);
  const link = await read();
  expect(link).toMatchObject({ name: "one", purpose: "two", fallbackDestination: "https://example.org" });
  expect(new Set(link.tags.map(({ name }: Named) => name))).toEqual(new Set(["x", "y"]));
});

describe("a change that waited for another one", () => {
  /** Sends a change while another transaction holds the link and makes its own. Gives the outcome of both. */
  async function behind(change: (tx: typeof db) => Promise<unknown>, body: object) {
    const call = await db.transaction().execute(async (tx) => {
      await sql`select from links where id = ${id} for no key update`.execute(tx);
      const waiting = patch(body);
      await vi.waitFor(
        async () => {
          const { rows } = await sql`select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
          expect(rows).toHaveLength(1);
        },
        { timeout: 20_000, interval: 10 },
      );
      await change(tx);
      return { waiting };
    });
    return (await call.waiting).json.link;
  }

  const detach = (tx: typeof db) => sql`delete from link_tags where link_id = ${id}`.execute(tx);

  test("answers the tags that the other one left", async () => {
    const link = await behind(detach, { name: "Dinner" });
    expect([link.name, link.tags]).toEqual(["Dinner", []]);
  });

  test("writes its tags, though the link had the same ones when it was asked for", async () => {
    const link = await behind(detach, { tags: ["a", "b"] });
    expect(link.tags.map(({ name }: Named) => name)).toEqual(["a", "b"]);
    expect((await read()).tags.map(({ name }: Named) => name)).toEqual(["a", "b"]);
  });

  test("takes a template's look again, when the other one took another", async () => {
    const template = await addTemplate(workspace.workspaceId, { backgroundColor: "#ffeedd" });
    await patch({ qrcodeTemplateId: template });
    const restyle = (tx: typeof db) =>
      sql`update qrcode_designs set options = '{}' where link_id = ${id}`.execute(tx);
    await behind(restyle, { qrcodeTemplateId: template });
    const { rows } = await sql<{ options: object }>`
      select options from qrcode_designs where link_id = ${id}`.execute(db);
    expect(rows).toEqual([{ options: { backgroundColor: "#ffeedd" } }]);
  });
});
