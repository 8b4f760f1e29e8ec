import { afterAll, beforeEach, expect, test } from "vitest";
import { startSlack } from "../../../test/support/slack/stand-in.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { deleteWorkspace } from "../../db/end-workspaces.ts";
import { createTokenBox } from "../../integrations/token-box.ts";
import { revokeSlackToken } from "../../jobs/integrations/revoke-slack-token.ts";
import { purgeWorkspace } from "../../jobs/purge/purge-workspaces.ts";
import { jobCalls } from "../../jobs/queue.ts";
import type { QueuedJobs } from "../../model/jobs.ts";

const slack = await startSlack();
afterAll(slack.close);
const tokenBox = createTokenBox(new Uint8Array(32).fill(7));
const api = await startApi({ deps: { slack: slack.client, tokenBox } });
const { db, now, storage } = api;

let workspace: TestWorkspace;
let team: string;
let codes = 0;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  team = `team ${workspace.workspaceId}`;
});

async function connect({ rest }: TestWorkspace, name = team): Promise<void> {
  const { json } = await rest("GET", "/v1/slack-integrations/oauth-url");
  const state = new URL(json.oauthUrl).searchParams.get("state");
  const made = await rest("POST", "/v1/slack-integrations/oauth/complete", {
    code: `${name}.${++codes}`,
    state,
  });
  expect(made.status, made.text).toBe(200);
}

/** Runs the queued revocations, as their queue does, and takes those that succeed off it. Returns how many there were. */
async function runRevocations(): Promise<number> {
  const { rows } = await api.database.pool.query<{ id: string; payload: QueuedJobs["revoke-slack-token"] }>(
    `select j.id::text, j.payload from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id where t.identifier = 'revoke-slack-token'`,
  );
  for (const { id, payload } of rows) {
    await revokeSlackToken({ db, slack: slack.client, tokenBox }, payload);
    await api.database.pool.query("delete from graphile_worker._private_jobs where id = $1", [id]);
  }
  return rows.length;
}

const isRevoked = (name = team) => slack.team(name).refusal === "token_revoked";

test("a deleted integration's token is revoked, also when Slack was down at first", async () => {
  await connect(workspace);
  await workspace.rest("DELETE", "/v1/slack-integrations");
  expect(isRevoked()).toBe(false);
  for (const answer of [
    { html: 503 },
    "closed",
    "cut",
    { limitedSeconds: 30 },
    { error: "internal_error" },
  ] as const) {
    slack.answerNext("auth.revoke", answer);
    await expect(runRevocations()).rejects.toThrow("the token of a Slack integration was not revoked");
    expect(isRevoked()).toBe(false);
  }
  expect(await runRevocations()).toBe(1);
  expect(isRevoked()).toBe(true);
});

test.each(["token_revoked", "account_inactive"] as const)(
  "a token that Slack answers with %s needs no revocation",
  async (refusal) => {
    await connect(workspace);
    await workspace.rest("DELETE", "/v1/slack-integrations");
    slack.team(team).refusal = refusal;
    expect(await runRevocations()).toBe(1);
  },
);

test("the token of a team stays while another workspace is connected to the team, and the last one revokes it", async () => {
  const other = await api.newWorkspace();
  await connect(workspace);
  await connect(other, team);
  await workspace.rest("DELETE", "/v1/slack-integrations");
  expect(await runRevocations()).toBe(1);
  expect(isRevoked()).toBe(false);
  expect((await other.rest("GET", "/v1/slack-integrations/channels")).status).toBe(200);
  await other.rest("DELETE", "/v1/slack-integrations");
  expect(await runRevocations()).toBe(1);
  expect(isRevoked()).toBe(true);
});

test("connecting the same team again keeps its token; connecting another one revokes the first", async () => {
  await connect(workspace);
  await connect(workspace);
  expect(await runRevocations()).toBe(1);
  expect(isRevoked()).toBe(false);
  const another = `another ${workspace.workspaceId}`;
  await connect(workspace, another);
  expect(await runRevocations()).toBe(1);
  expect([isRevoked(), isRevoked(another)]).toEqual([true, false]);
});

test("the purge of a workspace revokes its token", async () => {
  await connect(workspace);
  const { workspaceId } = workspace;
  await deleteWorkspace(db, { workspaceId, at: now(), jobCalls });
  await purgeWorkspace({ db, storage, tokenBox, now }, workspaceId);
  expect(await runRevocations()).toBe(1);
  expect(isRevoked()).toBe(true);
});
