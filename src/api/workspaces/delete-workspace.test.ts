import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { WorkspacesService } from "../../../gen/signpost/v1/workspaces_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { signInAs } from "../../../test/support/sign-in.ts";
import { type Api, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { startTestScan } from "../../../test/support/start-scan.ts";
import { makers } from "../../../test/support/tenant-records.ts";
import { deleteWorkspace, restoreWorkspace } from "../../db/end-workspaces.ts";
import { claimName } from "../../domains/names.ts";
import { purgeWorkspace } from "../../jobs/purge/purge-workspaces.ts";
import { jobCalls } from "../../jobs/queue.ts";

const api = await startApi();
const second = await startApi({ database: api.database });
const scan = await startTestScan(api.database, {}, afterAll);
const { db, now } = api;
const remove = WorkspacesService.method.delete;
const both = ["rest", "grpc"] as const;

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await api.newWorkspace();
});

/** Waits until a condition that other processes bring about holds. */
function eventually(check: () => Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 20_000, interval: 20 });
}

async function statusAt(process: Api, { token }: TestWorkspace): Promise<number> {
  return (await process.rest(token)("GET", "/v1/workspace")).status;
}

async function newShortlink({ rest }: TestWorkspace): Promise<string> {
  return (await rest("POST", "/v1/links", { destination: "https://example.com" })).json.link.shortlink;
}

/** A domain of the workspace with a root of its own. */
async function newDomain({ workspaceId }: TestWorkspace): Promise<{ id: string; name: string }> {
  const id = await makers.customDomain(api, workspace);
  const { name } = await db
    .updateTable("custom_domains")
    .set({ root_destination: "https://example.com/root" })
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .returning("name")
    .executeTakeFirstOrThrow();
  return { id, name };
}

async function mailsAbout({ workspaceId }: TestWorkspace) {
  const { rows } = await sql<{ payload: Record<string, string> }>`
    select payload from graphile_worker._private_jobs where payload ->> 'workspaceId' = ${workspaceId}
      and payload ->> 'kind' is not null order by payload ->> 'to'`.execute(db);
  return rows.map(({ payload }) => payload);
}

test.each(both)(
  "deleting over %s ends tokens, links and roots of domains on every process",
  async (protocol) => {
    const shortlink = await newShortlink(workspace);
    const domain = await newDomain(workspace);
    const visit = async () => (await scan.ask(`/${shortlink}`)).status;
    const root = async () => (await scan.ask("/", { host: domain.name })).status;
    expect([await visit(), await root(), await statusAt(second, workspace)]).toEqual([302, 302, 200]);
    expect((await ask(api, protocol, remove, {}, workspace.token)).reason).toBe("OK");
    expect(await statusAt(api, workspace)).toBe(401);
    await eventually(async () => {
      expect([await visit(), await root(), await statusAt(second, workspace)]).toEqual([404, 404, 401]);
    });
    expect((await ask(api, protocol, remove, {}, workspace.token)).reason).toBe("UNAUTHENTICATED");
  },
);

test("restoring brings everything back, and the workspace can be deleted again", async () => {
  const { workspaceId } = workspace;
  const shortlink = await newShortlink(workspace);
  const domain = await newDomain(workspace);
  const before = await workspace.rest("GET", "/v1/links");
  await workspace.rest("DELETE", "/v1/workspace");
  await eventually(async () => expect(await statusAt(second, workspace)).toBe(401));
  expect(await restoreWorkspace(db, workspaceId, now())).toEqual([]);
  await eventually(async () => {
    expect([await statusAt(api, workspace), await statusAt(second, workspace)]).toEqual([200, 200]);
  });
  expect((await scan.ask(`/${shortlink}`)).status).toBe(302);
  expect((await scan.ask("/", { host: domain.name })).status).toBe(302);
  expect((await workspace.rest("GET", "/v1/links")).json).toEqual(before.json);
  expect(await restoreWorkspace(db, workspaceId, now())).toBeUndefined();
  await workspace.rest("DELETE", "/v1/workspace");
  expect(await statusAt(api, workspace)).toBe(401);
});

test("a deleted workspace is not public any more, nor are its templates", async () => {
  const templateId = await makers.qrcodeTemplate(api, workspace);
  const published = await workspace.rest("POST", `/v1/qrcode-templates/${templateId}/publish`);
  const slug = `s-${randomUUID()}`;
  await workspace.rest("PUT", "/v1/workspace", { slug });
  const views = async () => [
    (await api.rest()("GET", `/v1/public/workspaces/${slug}`)).status,
    (await api.rest()("GET", `/v1/public/qrcode-templates/${published.json.qrcodeTemplate.slug}`)).status,
  ];
  expect(await views()).toEqual([200, 200]);
  await workspace.rest("DELETE", "/v1/workspace");
  expect(await views()).toEqual([404, 404]);
});

test("every administrator who has access gets a mail that says until when it can be undone", async () => {
  const { workspaceId } = workspace;
  const at = now();
  const member = { workspace_id: workspaceId, created_at: at, updated_at: at };
  await db
    .insertInto("members")
    .values([
      { ...member, id: randomUUID(), email: "z-second@example.com", role: "ADMIN" },
      { ...member, id: randomUUID(), email: "suspended@example.com", role: "ADMIN", access_revoked_at: at },
      { ...member, id: randomUUID(), email: "tech@example.com", role: "TECH" },
    ])
    .execute();
  await workspace.rest("DELETE", "/v1/workspace");
  const mails = await mailsAbout(workspace);
  expect(mails).toMatchObject([
    { kind: "workspace-deleted", memberId: workspace.memberId, to: expect.stringContaining("admin-") },
    { kind: "workspace-deleted", to: "z-second@example.com" },
  ]);
  expect(mails[0]?.mailId).not.toBe(mails[1]?.mailId);
  const { deleted_at } = await db
    .selectFrom("workspaces")
    .select("deleted_at")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  const { restorableUntil } = JSON.parse(mails[0]?.facts ?? "");
  expect(Date.parse(restorableUntil) - Number(deleted_at)).toBe(30 * 24 * 3_600_000);
});

test("sandboxes end with their workspace, without a mail, and do not come back", async () => {
  const sandbox = await api.newWorkspace();
  await db
    .updateTable("workspaces")
    .set({ environment: "test", parent_workspace_id: workspace.workspaceId })
    .where("id", "=", sandbox.workspaceId)
    .execute();
  expect(await statusAt(api, sandbox)).toBe(200);
  await workspace.rest("DELETE", "/v1/workspace");
  expect(await statusAt(api, sandbox)).toBe(401);
  expect(await mailsAbout(sandbox)).toEqual([]);
  expect(await restoreWorkspace(db, sandbox.workspaceId, now())).toBeUndefined();
  expect(await restoreWorkspace(db, workspace.workspaceId, now())).toEqual([]);
  await eventually(async () => expect(await statusAt(api, workspace)).toBe(200));
  expect(await statusAt(api, sandbox)).toBe(401);
});

test("a sandbox that is being made while its workspace is deleted ends with it", async () => {
  const { workspaceId, rest } = workspace;
  /** Sends a call that needs the workspace's row, and waits until it waits for it. */
  const waiting = async (call: () => ReturnType<typeof rest>, count: number) => {
    const answer = call();
    await eventually(async () => expect(await waitingStatements()).toBe(count));
    return { answer };
  };
  const [made, deleted] = await db.transaction().execute(async (tx) => {
    await sql`select from workspaces where id = ${workspaceId} for no key update`.execute(tx);
    // PostgreSQL serves those who wait for a row in the order of their arrival.
    return [
      await waiting(() => rest("POST", "/v1/sandboxes", {}), 1),
      await waiting(() => rest("DELETE", "/v1/workspace"), 2),
    ] as const;
  });
  const { status, json } = await made.answer;
  expect([status, (await deleted.answer).status]).toEqual([200, 200]);
  const { deleted_at } = await db
    .selectFrom("workspaces")
    .select("deleted_at")
    .where("id", "=", json.sandbox.id)
    .executeTakeFirstOrThrow();
  expect(deleted_at).not.toBeNull();
  expect((await api.rest(json.accessToken)("GET", "/v1/workspace")).status).toBe(401);
});

/** How many statements wait for a lock. */
async function waitingStatements(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows[0]?.count ?? 0;
}

test("a deleted workspace keeps its domains from others who cannot prove them, and its slug and addresses with the purge", async () => {
  const domain = await newDomain(workspace);
  const slug = `s-${randomUUID()}`;
  await workspace.rest("PUT", "/v1/workspace", { slug });
  await workspace.rest("DELETE", "/v1/workspace");
  const other = await api.newWorkspace();
  const claim = { name: domain.name, workspaceId: other.workspaceId, id: randomUUID(), at: now() };
  expect(await claimName(db, { ...claim, isProved: false })).toBe(false);
  expect(await claimName(db, { ...claim, isProved: true })).toBe(true);
  const take = async () => (await other.rest("PUT", "/v1/workspace", { slug })).status;
  const addresses = () =>
    db.selectFrom("member_emails").select("email").where("member_id", "=", workspace.memberId).execute();
  expect(await take()).toBe(409);
  expect(await addresses()).toHaveLength(1);
  expect(await restoreWorkspace(db, workspace.workspaceId, now())).toEqual([domain.name]);
  await eventually(async () => expect(await statusAt(api, workspace)).toBe(200));
  await workspace.rest("DELETE", "/v1/workspace");
  await purgeWorkspace({ db, storage: api.storage, tokenBox: api.tokenBox, now }, workspace.workspaceId);
  expect(await take()).toBe(200);
  expect(await addresses()).toEqual([]);
  expect(await restoreWorkspace(db, workspace.workspaceId, now())).toBeUndefined();
  expect(await statusAt(second, workspace)).toBe(401);
});

test("of twenty deletions at once, one counts, and the mails go once", async () => {
  const { workspaceId } = workspace;
  const ended = await Promise.all(
    Array.from({ length: 20 }, () => deleteWorkspace(db, { workspaceId, at: now(), jobCalls })),
  );
  expect(ended.filter((ids) => ids.length > 0)).toEqual([[workspaceId]]);
  expect(await mailsAbout(workspace)).toHaveLength(1);
});

test("sessions of members end with the workspace on every process, and go on when it is restored", async () => {
  const { accessToken } = await signInAs(api, workspace);
  const statuses = () =>
    Promise.all(
      [api, second].map(async ({ rest }) => (await rest(accessToken)("GET", "/v1/workspace")).status),
    );
  expect(await statuses()).toEqual([200, 200]);
  expect((await api.rest(accessToken)("DELETE", "/v1/workspace")).status).toBe(200);
  await eventually(async () => expect(await statuses()).toEqual([401, 401]));
  await restoreWorkspace(db, workspace.workspaceId, now());
  await eventually(async () => expect(await statuses()).toEqual([200, 200]));
});

test.each(both)("callers who may not delete are refused over %s, and everything stays", async (protocol) => {
  const publishable = await workspace.rest("POST", "/v1/workspace-tokens", {
    keyType: "WORKSPACE_TOKEN_KEY_TYPE_PUBLISHABLE",
  });
  const reading = await api.scopedToken(workspace.workspaceId, ["workspace:read", "links:write"]);
  for (const token of [publishable.json.accessToken, reading])
    expect((await ask(api, protocol, remove, {}, token)).reason).toBe("INSUFFICIENT_SCOPE");
  const { accessToken } = await signInAs(api, workspace, { role: "TECH" });
  expect((await ask(api, protocol, remove, {}, accessToken)).reason).toBe("INSUFFICIENT_ROLE");
  expect((await ask(api, protocol, remove, {}, "no.token")).reason).toBe("UNAUTHENTICATED");
  expect(await statusAt(api, workspace)).toBe(200);
});
