import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { SubscriptionType } from "../gen/database.ts";
import { operate } from "../src/cli/operator-commands.ts";
import { endTrials } from "../src/jobs/end-trials.ts";
import { defaultPlans, type PlanTable } from "../src/model/plans/plan-table.ts";
import { insertWorkflow, type StepSeed } from "./support/insert-workflow.ts";
import { insertLink, insertWorkspace, startTestScan } from "./support/start-scan.ts";
import { testDatabase } from "./support/test-database.ts";

const database = await testDatabase();
const { db } = database;
const directory = await mkdtemp(join(tmpdir(), "signpost-brand-"));
afterAll(() => rm(directory, { recursive: true, force: true }));

const baseUrl = "https://signpost.example/?a=1&b=2";
const flow = {
  entry: { action: "LINK_VISIT", next: { next: "page" } },
  page: {
    action: "MESSAGE_PAGE",
    payload: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
    next: { next: "end" },
  },
  end: { action: "THANK_YOU_PAGE", payload: { title: "Thanks" } },
} as const satisfies Record<string, StepSeed>;
const person = {
  "user-agent":
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
};

const startScan = (terms: PlanTable) => startTestScan(database, { terms, baseUrl });
const inForce = { ...defaultPlans, inForce: true };

interface Subscription {
  readonly subscription_type: SubscriptionType;
  readonly trial_ends_at?: Date;
  readonly parent_workspace_id?: string;
}

async function pageOf(subscription: Subscription): Promise<{ workspaceId: string; path: string }> {
  const environment = subscription.parent_workspace_id === undefined ? "live" : "test";
  const workspaceId = await insertWorkspace(db, { environment });
  await db.updateTable("workspaces").set(subscription).where("id", "=", workspaceId).execute();
  const { shortlink } = await insertWorkflow(db, flow, { workspaceId });
  return { workspaceId, path: `/${shortlink}` };
}

type Scan = Awaited<ReturnType<typeof startScan>>;

/** Whether the page of a link names the service. */
async function isNamed({ ask }: Scan, { path }: { path: string }): Promise<boolean> {
  const { status, body } = await ask(path, { headers: person });
  expect([status, body.includes("Hello")]).toEqual([200, true]);
  return body.includes(
    '<a class="brand" href="https://signpost.example/?a=1&amp;b=2">Made with Signpost</a>',
  );
}

const tomorrow = new Date(Date.now() + 86_400_000);

test("pages name the service on the plans without the feature, and only where plans are in force", async () => {
  const [limited, free] = [await startScan(inForce), await startScan(defaultPlans)];
  const cases: [Subscription, boolean][] = [
    [{ subscription_type: "UNSPECIFIED" }, true],
    [{ subscription_type: "LIGHT_PLAN" }, true],
    [{ subscription_type: "PRO_PLAN" }, false],
    [{ subscription_type: "SPONSORED_PRO" }, false],
    [{ subscription_type: "ENTERPRISE_PLAN" }, false],
    [{ subscription_type: "FREE_TRIAL", trial_ends_at: tomorrow }, false],
    [{ subscription_type: "FREE_TRIAL", trial_ends_at: new Date() }, true],
  ];
  for (const [subscription, names] of cases) {
    const page = await pageOf(subscription);
    expect([subscription, await isNamed(limited, page)]).toEqual([subscription, names]);
    expect([subscription, await isNamed(free, page)]).toEqual([subscription, false]);
    // A sandbox has the plan of its workspace, whatever its own row says.
    const sandbox = { subscription_type: names ? "PRO_PLAN" : "UNSPECIFIED" } as const;
    const own = await pageOf({ ...sandbox, parent_workspace_id: page.workspaceId });
    expect([subscription, await isNamed(limited, own)]).toEqual([subscription, names]);
  }
});

test("later pages of a visit name the service too, and a redirect is what it was", async () => {
  const scan = await startScan(inForce);
  const { path, workspaceId } = await pageOf({ subscription_type: "UNSPECIFIED" });
  const { body } = await scan.ask(path, { headers: person });
  const action = /action="([^"]+)"/.exec(body)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const headers = {
    ...person,
    origin: "https://go.example",
    "content-type": "application/x-www-form-urlencoded",
  };
  const answered = await scan.ask(action, { method: "POST", headers, body: "" });
  const last = await scan.ask(answered.headers.location ?? "", { headers: person });
  expect([last.status, last.body.includes("Thanks"), last.body.includes(">Made with Signpost</a>")]).toEqual([
    200,
    true,
    true,
  ]);
  const { shortlink } = await insertLink(db, { workspaceId });
  const sent = await scan.ask(`/${shortlink}`, { headers: person });
  expect([sent.status, sent.body]).toEqual([302, ""]);
});

test("no visit asks the database for the plan once the link is known", async () => {
  const scan = await startScan(inForce);
  const page = await pageOf({ subscription_type: "UNSPECIFIED" });
  await isNamed(scan, page);
  const before = scan.statements();
  for (let again = 0; again < 5; again++) expect(await isNamed(scan, page)).toBe(true);
  expect(scan.statements()).toBe(before);
});

test("a change of the plan by an operator reaches pages of the workspace and its sandboxes at once", async () => {
  const scan = await startScan(inForce);
  const page = await pageOf({ subscription_type: "PRO_PLAN" });
  const own = await pageOf({ subscription_type: "PRO_PLAN", parent_workspace_id: page.workspaceId });
  const both = async () => [await isNamed(scan, page), await isNamed(scan, own)];
  expect(await both()).toEqual([false, false]);
  const { host, port, user, database: name, password } = database.connection;
  const auth = password === undefined ? user : `${user}:${password}`;
  const env = {
    DATABASE_URL: `postgres://${auth}@${encodeURIComponent(host ?? "")}:${port}/${name}`,
    DATA_DIR: directory,
    SECRET: "a secret of an operator, which is long enough",
  };
  const change = (plan: string) =>
    operate("workspace plan", ["--workspace", page.workspaceId, "--plan", plan], env);
  await change("FREE");
  await expect.poll(both, { timeout: 20_000 }).toEqual([true, true]);
  await change("PRO");
  await expect.poll(both, { timeout: 20_000 }).toEqual([false, false]);
});

test("the end of a trial reaches pages at once", async () => {
  const scan = await startScan(inForce);
  const page = await pageOf({ subscription_type: "FREE_TRIAL", trial_ends_at: tomorrow });
  expect(await isNamed(scan, page)).toBe(false);
  await endTrials(db, tomorrow);
  await expect.poll(() => isNamed(scan, page), { timeout: 20_000 }).toBe(true);
});
