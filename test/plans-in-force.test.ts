import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { operate } from "../src/cli/operator-commands.ts";
import { readConfig } from "../src/service/config.ts";
import { restApi } from "./support/rest-api.ts";
import { eventually, type Service, startService } from "./support/start-service.ts";

let folder: string;
let service: Service;
let workspaceId: string;

/** What `GET /v1/allowances` says. */
interface Allowances {
  readonly plan: string;
  readonly allowances: readonly {
    readonly key: string;
    readonly used: number;
    readonly remaining?: number;
  }[];
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "signpost-plans-"));
  const file = join(folder, "plans.json");
  await writeFile(file, JSON.stringify({ trial: { days: 30, limits: { PUBLIC_API_CALLS: 5_000 } } }));
  service = await startService({ env: { PLANS: "on", PLANS_FILE: file } });
  workspaceId = service.credentials.workspaceId;
  return async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  };
});

/** How many calls this file has made. */
let made = 0;

function get<Answered>(path: string): Promise<Answered> {
  made += 1;
  return restApi(service.baseUrl, service.credentials.accessToken).call("GET", path);
}

function allowances(): Promise<Allowances> {
  return get("/v1/allowances");
}

async function apiCalls(): Promise<number> {
  return (await allowances()).allowances.at(-1)?.used ?? 0;
}

/** The cycles of all accounts of credits. */
async function accountCycles(): Promise<string[]> {
  const client = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await client.connect();
  const { rows } = await client.query<{ cycle: string }>("select cycle from credit_accounts");
  await client.end();
  return rows.map(({ cycle }) => cycle);
}

const msMax = 30_000;

test("a new workspace tries PRO for the days of the configuration, and operators change its plan", async () => {
  const { plan, limits } = await get<Allowances & { limits: unknown[] }>("/v1/allowances");
  expect(plan).toBe("PRICING_PLAN_ID_PRO");
  expect(limits[4]).toMatchObject({ key: "PLAN_LIMIT_KEY_PUBLIC_API_CALLS", value: 5_000 });
  const said = await operate("workspace plan", ["--workspace", workspaceId, "--plan", "FREE"], service.env);
  expect(said).toContain("on the plan FREE");
  await eventually(allowances, ({ plan: now }) => now === "PRICING_PLAN_ID_FREE", msMax);
  await operate("workspace credits", ["--workspace", workspaceId, "--credits", "30"], service.env);
  const again = await operate(
    "workspace credits",
    ["--workspace", workspaceId, "--credits", "12"],
    service.env,
  );
  expect(again).toContain("42 bought credits left");
  expect((await allowances()).allowances[2]).toMatchObject({ used: 0, remaining: 62 });
  // Bought credits begin no month: only a charge knows the month of the workspace's own zone.
  expect(await accountCycles()).toEqual([""]);
  const { call } = restApi(service.baseUrl, service.credentials.accessToken);
  made += 1;
  await call("POST", "/v1/links", { destination: "https://example.com" });
  const [, , credits] = (await allowances()).allowances;
  expect([(credits?.used ?? 0) > 0, (credits?.used ?? 0) + (credits?.remaining ?? 0)]).toEqual([true, 62]);
  expect(await accountCycles()).toEqual([expect.stringMatching(/^\d{4}-\d{2}$/)]);
});

test.each([
  ["workspace plan", ["--plan", "GOLD"], "one of FREE, LIGHT, PRO, ENTERPRISE"],
  ["workspace plan", [], "--plan is missing"],
  ["workspace credits", ["--credits", "0"], "a whole number from 1"],
  ["workspace credits", ["--credits", "1e3"], "a whole number from 1"],
  ["workspace credits", ["--workspace", "nonsense", "--credits", "1"], "is no workspace id"],
])("%s with %j says what is wrong", async (name, args, message) => {
  await expect(operate(name, ["--workspace", workspaceId, ...args], service.env)).rejects.toThrow(message);
});

test("calls are counted across a stop, and a killed process loses those of about a second at most", async () => {
  for (let call = 0; call < 20; call++) await get("/v1/links");
  expect(await service.kill("SIGTERM")).toMatchObject({ code: 0 });
  service = await service.restart();
  const stopped = made;
  expect(await apiCalls()).toBe(stopped);
  for (let call = 0; call < 20; call++) await get("/v1/links");
  const written = made;
  await eventually(apiCalls, (used) => used >= written, msMax);
  for (let call = 0; call < 5; call++) await get("/v1/links");
  await service.kill("SIGKILL");
  service = await service.restart();
  const all = made;
  const kept = await apiCalls();
  expect(kept).toBeGreaterThanOrEqual(written);
  expect(kept).toBeLessThanOrEqual(all);
});

test("a file with wrong fields stops the start with a sentence for each", async () => {
  const file = join(folder, "wrong.json");
  await writeFile(
    file,
    JSON.stringify({ plans: { FREE: { limits: { WEBHOOKS: "many" } } }, trial: { day: 1 } }),
  );
  expect(() => readConfig({ PLANS_FILE: file })).toThrow(
    /trial\.day: no such field.*\n.*plans\.FREE\.limits\.WEBHOOKS: a whole number/s,
  );
  await writeFile(file, "{");
  expect(() => readConfig({ PLANS_FILE: file })).toThrow(`PLANS_FILE: ${file} cannot be read`);
  expect(() => readConfig({ PLANS: "yes" })).toThrow('PLANS: one of on, off, not "yes"');
});
