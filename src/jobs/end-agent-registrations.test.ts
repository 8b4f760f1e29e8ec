import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newAgent } from "../../test/support/agents.ts";
import { middleOfMonth, tickingClock } from "../../test/support/clock.ts";
import { startApi } from "../../test/support/start-api.ts";
import { walkTables } from "../../test/support/tenant-rows.ts";
import { forgetRevocations } from "../db/end-workspaces.ts";
import { localFolderStorage } from "../lib/storage/storage-local.ts";
import { endAgentGrant } from "../service/roles/open-agents.ts";
import { endAgentRegistrations } from "./end-agent-registrations.ts";

const directory = await mkdtemp(join(tmpdir(), "signpost-agents-"));
afterAll(() => rm(directory, { recursive: true, force: true }));
// The links of one test belong to one month.
const api = await startApi({ clock: tickingClock(middleOfMonth()) });
const { db, clock } = api;
const { now } = clock;
const storage = localFolderStorage(directory);
const deps = { db, now, storage, tokenBox: api.tokenBox, endGrant: endAgentGrant };
const dayMs = 24 * 60 * 60 * 1000;
const password = "correct horse battery";

type Agent = Awaited<ReturnType<typeof newAgent>>;
const claim = ({ attempt }: Agent) =>
  api.rest()("POST", "/v1/agent-identity/claim/complete", {
    ...{ claimAttemptToken: attempt.token, userCode: attempt.userCode, password },
  });
const statusOf = async ({ accessToken }: Agent) => (await api.rest(accessToken)("GET", "/v1/links")).status;

test("until somebody claims it, a workspace makes 50 links; then as many as others", async () => {
  const agent = await newAgent(api);
  const make = () => api.rest(agent.accessToken)("POST", "/v1/links", { destination: "https://example.com" });
  for (let links = 0; links < 50; links++) expect((await make()).status).toBe(200);
  const refused = await make();
  expect([refused.status, refused.json.error.codeType]).toEqual([429, "INSUFFICIENT_CREDITS"]);
  expect((await claim(agent)).status).toBe(200);
  clock.advance(61_000);
  expect((await make()).status).toBe(200);
});

test("an agent's access ends with its registration, but not in a claimed workspace", async () => {
  const [kept, lost] = [await newAgent(api), await newAgent(api)];
  expect((await claim(kept)).status).toBe(200);
  clock.advance(7 * dayMs - 60_000);
  await endAgentRegistrations(deps);
  expect([await statusOf(kept), await statusOf(lost)]).toEqual([200, 200]);
  clock.advance(60_000);
  await endAgentRegistrations(deps);
  await expect.poll(() => statusOf(lost), { timeout: 30_000 }).toBe(401);
  expect(await statusOf(kept)).toBe(200);
  const { json } = await api.rest()("POST", "/v1/agent-identity/claim/lookup", {
    claimAttemptToken: lost.attempt.token,
  });
  expect(json.status).toBe("AGENT_CLAIM_STATUS_EXPIRED");
  expect((await claim(lost)).status).toBe(412);
});

test("a workspace that nobody claims is gone 30 days after the registration, with every row; a claimed one stays", async () => {
  const tables = await walkTables(db);
  const [kept, lost] = [await newAgent(api), await newAgent(api)];
  await claim(kept);
  await api.rest(lost.accessToken)("POST", "/v1/links", { destination: "https://example.com" });
  clock.advance(29 * dayMs);
  await endAgentRegistrations(deps);
  const find = ({ workspaceId }: Agent) =>
    db.selectFrom("workspaces").select("deleted_at").where("id", "=", workspaceId).execute();
  expect(await find(lost)).toEqual([{ deleted_at: null }]);
  clock.advance(dayMs);
  await endAgentRegistrations(deps);
  await forgetRevocations(db, now());
  expect(await find(lost)).toEqual([]);
  expect(await tables.naming(lost.workspaceId)).toEqual([]);
  expect(await find(kept)).toEqual([{ deleted_at: null }]);
  expect(await statusOf(lost)).toBe(401);
  expect(
    (await api.rest()("POST", "/v1/agent-identity/claim/lookup", { claimAttemptToken: lost.attempt.token }))
      .status,
  ).toBe(404);
});
