import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWorkspace } from "../../src/api/workspaces/create-workspace.ts";
import { openDatabase } from "../../src/db/open.ts";
import { deriveKey } from "../../src/lib/keys.ts";
import { readPlanTable } from "../../src/model/plans/read-plan-table.ts";
import { createTokenSigner } from "../../src/rpc/pipeline/credentials/tokens.ts";
import { atLeast, type Finding, inTurn, medianOf, told } from "./report.ts";
import { databaseOf, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { postRequest } from "./visits.ts";
import { wrk } from "./wrk.ts";

const connections = 64;
const workspaces = 32;
const plenty = 2_000_000_000;
const limits = { PLATFORM_CREDITS: plenty, PUBLIC_API_CALLS: plenty, TRACKED_VISITS: plenty };
const table = { plans: { PRO: { limits } } };

/**
 * Making links where plans are in force, and each link is charged to its workspace, against making them freely. Charges
 * of one workspace take turns until they are committed, so this is measured with many workspaces, and told for one.
 */
export async function quotasRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const off = await startServiceProcess({ env: { ROLES: "api", RATE_LIMIT_WORKSPACE: "0" } });
  const plansFile = join(off.dataDir, "plans.json");
  writeFileSync(plansFile, JSON.stringify(table));
  const env = { ROLES: "api", RATE_LIMIT_WORKSPACE: "0", PLANS: "on", PLANS_FILE: plansFile };
  const on = await startServiceProcess({ env });
  try {
    const requests = new Map<ServiceProcess, readonly string[]>([
      [off, (await tokensOf(off, false)).map((token) => createRequest(off, token))],
      [on, (await tokensOf(on, true)).map((token) => createRequest(on, token))],
    ]);
    const seconds = quick ? 2 : 4;
    const compare = async (count: number) => {
      const load = (service: ServiceProcess) =>
        wrk({
          port: service.port,
          requests: (requests.get(service) ?? []).slice(0, count),
          connections,
          seconds,
        });
      await inTurn(
        1,
        () => load(off),
        () => load(on),
      );
      const reports = await inTurn(
        quick ? 3 : 7,
        () => load(off),
        () => load(on),
      );
      const perSecond = (side: keyof typeof reports) =>
        medianOf(reports[side], (report) => report.requests / report.seconds);
      return { ours: perSecond("ours"), peer: perSecond("peer") };
    };
    const many = await compare(workspaces);
    const one = await compare(1);
    return [
      atLeast(`POST /v1/links of ${workspaces} workspaces with plans in force, against without`, {
        ...many,
        unit: "/s",
        budget: 0.95,
      }),
      told("  the same of one workspace", { ours: one.ours, peer: one.peer.toFixed(1), unit: "/s" }),
    ];
  } finally {
    await on.remove();
    await off.remove();
  }
}

/** Makes workspaces, and returns a token of each. */
async function tokensOf({ dataDir }: ServiceProcess, inForce: boolean): Promise<string[]> {
  const secret = readFileSync(join(dataDir, "secret"), "utf8").trim();
  const signToken = createTokenSigner(deriveKey(secret, "access-tokens"));
  const connection = databaseOf(dataDir);
  const { db, close } = openDatabase({ connection, poolSize: 2, statementTimeoutMs: 30_000, onError() {} });
  const deps = {
    db,
    now: () => new Date(),
    signToken,
    plans: readPlanTable(table, inForce, []),
    // Nobody signs in.
    hashPassword: async (password: string) => createHash("sha256").update(password).digest("hex"),
  };
  try {
    const made = [];
    for (let number = 0; number < workspaces; number++) {
      const order = { name: `Workspace ${number}`, email: `admin-${number}@example.com`, password: "none" };
      made.push((await createWorkspace(deps, order)).accessToken);
    }
    return made;
  } finally {
    await close();
  }
}

function createRequest({ port }: ServiceProcess, token: string): string {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  return postRequest(port, "/v1/links", headers, JSON.stringify({ destination: "https://example.com/menu" }));
}
