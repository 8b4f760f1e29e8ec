import { randomUUID } from "node:crypto";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { beforeEach, describe, expect, test } from "vitest";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { addDirectory } from "../../../test/support/add-directory.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { takeOutExpiredLinks } from "../../db/take-out-links.ts";

const api = await startApi();
const { db, now } = api;
const destination = "https://example.com/menu";
const expiredDestination = "https://example.com/over";
const expiresAt = "2099-12-31T22:00:00Z";

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

const creations = [
  ["/v1/links", { destination }],
  ["/v1/links/contact", { vcardData: { firstName: "Ada", lastName: "Lovelace" } }],
  ["/v1/links/thank-you", { title: "Thanks" }],
] as const;

async function newLink(body: object = {}) {
  const { status, json } = await rest("POST", "/v1/links", { destination, ...body });
  expect(status).toBe(200);
  return json.link;
}

/** Lets a link expire, as time would. */
async function letExpire(id: string, at = new Date("2026-01-01T00:00:00Z")): Promise<void> {
  await db.updateTable("links").set({ expires_at: at }).where("id", "=", id).execute();
}

// biome-ignore lint/suspicious/noExplicitAny: answers of any call
function refusalOf({ status, json }: { readonly status: number; readonly json: any }) {
  // biome-ignore lint/suspicious/noExplicitAny: see above
  const details: any[] = json.error?.details ?? [];
  const fields = details.flatMap(({ fieldViolations = [] }) =>
    fieldViolations.map(({ field }: { field: string }) => field),
  );
  return [status, json.error?.codeType, fields];
}

describe.each(creations)("POST %s", (path, body) => {
  test("keeps when the link expires and where it leads then, and shows neither when not given", async () => {
    const expiring = { expiresAt: "2099-12-31T23:00:00+0100", expiredDestination };
    const { status, json } = await rest("POST", path, { ...body, ...expiring });
    expect(status).toBe(200);
    expect(json.link).toMatchObject({ expiresAt, expiredDestination, pageThemeTemplateId: "" });
    const read = await rest("GET", `/v1/links/${json.link.id}`);
    expect(read.json.link).toMatchObject({ expiresAt, expiredDestination });
    const lasting = await rest("POST", path, body);
    expect(lasting.json.link).not.toHaveProperty("expiresAt");
    expect(lasting.json.link.expiredDestination).toBe("");
  });

  test("refuses an expiry that does not lie in the future, and makes nothing", async () => {
    const refused = await rest("POST", path, { ...body, expiresAt: now().toISOString() });
    expect(refusalOf(refused)).toEqual([400, "INVALID_ARGUMENT", ["expiresAt"]]);
    expect((await rest("GET", "/v1/links")).json.totalCount).toBe("0");
  });

  test("screens where the link leads once it has expired", async () => {
    const post = (expiredDestination: string) => rest("POST", path, { ...body, expiredDestination });
    for (const bad of ["javascript:alert(1)", "example.com", "https://short.test/abc123"])
      expect(refusalOf(await post(bad)), bad).toEqual([400, "INVALID_DESTINATION", ["expiredDestination"]]);
    const host = `${randomUUID()}.example`;
    await db.insertInto("blocked_hosts").values({ host, reason: "malware", created_at: now() }).execute();
    expect(refusalOf(await post(`https://www.${host}`))).toEqual([
      400,
      "MALICIOUS_URL",
      ["expiredDestination"],
    ]);
    expect(refusalOf(await post(`https://example.com/${"x".repeat(2_048)}`))[0]).toBe(400);
  });

  test("takes an id and a directory", async () => {
    const [id, directoryId] = [randomUUID(), await addDirectory(workspace)];
    const { json } = await rest("POST", path, { ...body, id, directoryId });
    expect(json.link).toMatchObject({ id, directoryId });
    expect(refusalOf(await rest("POST", path, { ...body, id })).slice(0, 2)).toEqual([409, "ID_TAKEN"]);
    const unknown = await rest("POST", path, { ...body, directoryId: randomUUID() });
    expect(refusalOf(unknown).slice(0, 2)).toEqual([404, "NOT_FOUND"]);
  });
});

test("sets, keeps and clears expiry and what stands after it, each by itself", async () => {
  const { id } = await newLink();
  const patch = async (body: object) => (await rest("PATCH", `/v1/links/${id}`, body)).json.link;
  const dated = await patch({ expiresAt });
  expect(dated).toMatchObject({ expiresAt, expiredDestination: "" });
  expect(await patch({ expiresAt }), "nothing to change").toEqual(dated);
  expect(await patch({ expiredDestination })).toMatchObject({ expiresAt, expiredDestination });
  expect(await patch({ expiredDestination: "", expiresAt: null })).toMatchObject({
    expiresAt,
    expiredDestination,
  });
  const endless = await patch({ expiresAtDelete: true });
  expect(endless).not.toHaveProperty("expiresAt");
  expect(endless.expiredDestination).toBe(expiredDestination);
  const empty = await patch({ expiredDestinationDelete: true });
  expect(empty.expiredDestination).toBe("");
  expect((await rest("GET", `/v1/links/${id}?include=tags`)).json.link).toEqual(empty);
});

test("refuses in a change what it refuses in a new link, and a value together with the flag that clears it", async () => {
  const { id } = await newLink({ expiresAt });
  const patch = async (body: object) => refusalOf(await rest("PATCH", `/v1/links/${id}`, body));
  expect(await patch({ expiresAt: now().toISOString() })).toEqual([400, "INVALID_ARGUMENT", ["expiresAt"]]);
  expect(await patch({ expiredDestination: "data:text/html,x" })).toEqual([
    400,
    "INVALID_DESTINATION",
    ["expiredDestination"],
  ]);
  const both = { expiresAt, expiresAtDelete: true, expiredDestination, expiredDestinationDelete: true };
  expect(await patch(both)).toEqual([400, "MUTUALLY_EXCLUSIVE_FIELDS", ["expiresAt", "expiredDestination"]]);
  const flags = { expiresAt, expiresAtDelete: false, expiredDestination, expiredDestinationDelete: false };
  expect((await rest("PATCH", `/v1/links/${id}`, flags)).status).toBe(200);
});

test("does the same over gRPC, by mask", async () => {
  const links = workspace.client(LinksService);
  const at = timestampFromDate(new Date(expiresAt));
  const seconds = (time: Timestamp | undefined) => time?.seconds;
  const { link } = await links.createThankYouLink({ title: "Thanks", expiresAt: at });
  const id = link?.id ?? "";
  expect(seconds(link?.expiresAt)).toBe(at.seconds);
  const updated = await links.update({
    id,
    expiresAtDelete: true,
    expiredDestination,
    updateMask: { paths: ["expires_at_delete", "expired_destination"] },
  });
  expect(updated.link).toMatchObject({ expiredDestination });
  expect(updated.link?.expiresAt).toBeUndefined();
  const past = links.update({ id, expiresAt: timestampFromDate(new Date("2026-01-01T00:00:00Z")) });
  await expect(past).rejects.toMatchObject({ code: Code.InvalidArgument });
  await letExpire(id);
  await expect(links.get({ id })).rejects.toSatisfy(
    (error) => ConnectError.from(error).code === Code.NotFound,
  );
});

describe.each([
  ["at once", false],
  ["after it was taken out of the workspace", true],
])("an expired link, %s,", (_, isTakenOut) => {
  test("is hidden from every read, cannot be changed or brought back, and keeps its short link", async () => {
    const link = await newLink({ tags: ["summer"], shortlink: `s-${randomUUID().slice(0, 8)}` });
    const other = await newLink();
    const { id, shortlink } = link;
    const path = `/v1/links/${id}`;
    const design = await rest("GET", `/v1/qrcode-designs/${link.qrcodeDesignId}`);
    expect(design.status).toBe(200);
    await letExpire(id);
    if (isTakenOut) while ((await takeOutExpiredLinks(db, now())) > 0);

    for (const [method, at, body] of [
      ["GET", path],
      ["GET", `${path}/workflow-steps`],
      ["GET", `${path}/lead-score/${randomUUID()}`],
      ["PATCH", path, { name: "Back" }],
      ["PATCH", path, { expiresAtDelete: true }],
      ["PATCH", path, { expiresAt }],
      ["DELETE", path],
    ] as const)
      expect((await rest(method, at, body)).status, `${method} ${at}`).toBe(404);
    for (const query of [
      "",
      "?tags=summer",
      "?sortBy=LINK_SORT_FIELD_EVENT_COUNT",
      "?view=LINK_VIEW_DIRECTORY",
    ]) {
      const { json } = await rest("GET", `/v1/links${query}`);
      const ids = query === "?tags=summer" ? [] : [other.id];
      expect([json.links.map((found: { id: string }) => found.id), json.totalCount], query).toEqual([
        ids,
        String(ids.length),
      ]);
    }
    const images = await rest("POST", "/v1/links/qrcode-images:resolve", { linkIds: [id] });
    expect(images.json.qrcodeSignedUrls).toEqual({});
    expect((await rest("GET", `/v1/events?linkId=${id}`)).status).toBe(200);

    const available = await rest("GET", `/v1/links/shortlink-availability?shortlink=${shortlink}`);
    expect(available.json.available).toBe(false);
    const again = await (await api.newWorkspace()).rest("POST", "/v1/links", { destination, shortlink });
    expect([again.status, again.json.error.codeType]).toEqual([409, "SHORTLINK_TAKEN"]);
  });
});

test("what hangs on an expired link goes with it, and nothing of other links", async () => {
  const [gone, dated, lasting] = [
    await newLink({ tags: ["a"] }),
    await newLink({ expiresAt }),
    await newLink(),
  ];
  await letExpire(gone.id);
  while ((await takeOutExpiredLinks(db, now(), 1)) > 0);
  const count = async (table: "workflow_steps" | "workflow_connections" | "link_tags" | "qrcode_designs") => {
    const rows = await db
      .selectFrom(table)
      .select("link_id")
      .where("workspace_id", "=", workspace.workspaceId)
      .execute();
    return new Set(rows.map((row) => row.link_id));
  };
  const kept = new Set([dated.id, lasting.id]);
  expect(await count("workflow_steps")).toEqual(kept);
  expect(await count("workflow_connections")).toEqual(kept);
  expect(await count("qrcode_designs")).toEqual(kept);
  expect(await count("link_tags")).toEqual(new Set());
});
