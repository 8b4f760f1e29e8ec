import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { startApi } from "../../test/support/start-api.ts";
import { walkTables } from "../../test/support/tenant-rows.ts";
import { createPendingWorkspace } from "../api/workspaces/create-workspace.ts";
import { forgetRevocations } from "../db/end-workspaces.ts";
import { localFolderStorage } from "../lib/storage/storage-local.ts";
import { mailReset } from "../people/asked-mails.ts";
import { memberByEmail } from "../people/members.ts";
import { endUnacceptedSignUps } from "./end-unaccepted-sign-ups.ts";
import { enqueue } from "./queue.ts";
import { signUp } from "./sign-up.ts";

const directory = await mkdtemp(join(tmpdir(), "signpost-sign-ups-"));
afterAll(() => rm(directory, { recursive: true, force: true }));
const api = await startApi();
const { db, clock } = api;
const { now } = clock;
const deps = { db, now, storage: localFolderStorage(directory), tokenBox: api.tokenBox };
const queueMail: Parameters<typeof signUp>[0]["queueMail"] = (tx, mail) => enqueue(tx, "send-mail", mail);
const dayMs = 24 * 60 * 60 * 1000;

/** Somebody who signed up and has not opened the link. */
async function newSignUp(): Promise<{ readonly email: string; readonly workspaceId: string }> {
  const email = `ada-${randomUUID()}@example.com`;
  const createWorkspace = (tx: typeof db, order: { readonly name: string; readonly email: string }) =>
    createPendingWorkspace(tx, order, now());
  await signUp({ db, now, queueMail, createWorkspace })({ name: "Ada", email });
  const member = await memberByEmail(db, email);
  return { email, workspaceId: member?.workspaceId ?? "" };
}

async function hasAccount({ email }: { readonly email: string }): Promise<boolean> {
  return (await memberByEmail(db, email)) !== undefined;
}

test("a sign-up that nobody accepted frees its address once its invitation is over, and leaves no row and no mail", async () => {
  const tables = await walkTables(db);
  const one = await newSignUp();
  clock.advance(6 * dayMs);
  await endUnacceptedSignUps(deps);
  expect(await hasAccount(one)).toBe(true);
  clock.advance(2 * dayMs);
  await endUnacceptedSignUps(deps);
  await forgetRevocations(db, now());
  expect(await hasAccount(one)).toBe(false);
  expect(await tables.naming(one.workspaceId)).toEqual([]);
  const { rows } = await sql`select from graphile_worker._private_jobs
    where payload ->> 'workspaceId' = ${one.workspaceId}`.execute(db);
  expect(rows).toEqual([]);
  const other = await api.newWorkspace();
  expect((await other.rest("POST", "/v1/members/invite", { email: one.email })).status).toBe(200);
});

test("whoever accepted, signed in, was invited again or is not alone keeps the workspace, and so does one with a token", async () => {
  const change = ({ workspaceId }: { readonly workspaceId: string }) =>
    db.updateTable("members").where("workspace_id", "=", workspaceId);
  const [accepted, confirmed, signedIn, again, lost] = [
    await newSignUp(),
    await newSignUp(),
    await newSignUp(),
    await newSignUp(),
    await newSignUp(),
  ];
  const [used, joined] = [await api.newWorkspace(), await api.newWorkspace()];
  await change(accepted).set({ password_hash: "x" }).execute();
  await change(confirmed).set({ email_verified_at: now() }).execute();
  await change(signedIn).set({ last_signin_at: now() }).execute();
  await joined.rest("POST", "/v1/members/invite", { email: `bob-${randomUUID()}@example.com` });
  for (const { workspaceId } of [used, joined])
    await change({ workspaceId }).set({ password_hash: null, email_verified_at: null }).execute();
  await db.deleteFrom("workspace_tokens").where("workspace_id", "=", joined.workspaceId).execute();
  clock.advance(8 * dayMs);
  await mailReset({ db, now, queueMail }, again.email);
  await endUnacceptedSignUps(deps);
  for (const kept of [accepted, confirmed, signedIn, again]) expect(await hasAccount(kept)).toBe(true);
  expect(await hasAccount(lost)).toBe(false);
  for (const { workspaceId } of [used, joined]) {
    const workspaces = db.selectFrom("workspaces").select("deleted_at").where("id", "=", workspaceId);
    expect(await workspaces.execute()).toEqual([{ deleted_at: null }]);
  }
});
