import { parseArgs } from "node:util";
import { analyticsRow } from "./analytics.ts";
import { coldRedirectRow } from "./cold-redirect.ts";
import { conditionsRow } from "./conditions.ts";
import { editsRow } from "./edits.ts";
import { exportsRow } from "./exports.ts";
import { grpcRow } from "./grpc.ts";
import { manyRow } from "./many.ts";
import { mcpRow } from "./mcp.ts";
import { memoryRow } from "./memory.ts";
import { outageRow } from "./outage.ts";
import { outboxRow } from "./outbox.ts";
import { pagesRow } from "./pages.ts";
import { paintRow } from "./paint.ts";
import { qrcodeRow } from "./qrcode.ts";
import { quotasRow } from "./quotas.ts";
import { recordingRow } from "./recording.ts";
import { redirectRow } from "./redirect.ts";
import { type Finding, table } from "./report.ts";
import { restRow } from "./rest.ts";
import { startUpRow } from "./start-up.ts";
import { storingRow } from "./storing.ts";
import { tenantsRow } from "./tenants.ts";
import { tlsRow } from "./tls.ts";
import { visitorsRow } from "./visitors.ts";

interface BenchOptions {
  readonly quick: boolean;
  /** How long the database is away in the row `outage`. */
  readonly minutes?: string | undefined;
}

/*
 * Measures the hot paths against their budgets: `npm run bench`, `npm run bench -- redirect create`,
 * `npm run bench -- outage --minutes 10`. With `--quick` it
 * runs fewer and shorter rounds. On a shared machine only the ratios within one run are meaningful.
 */
const rows: Readonly<Record<string, (options: BenchOptions) => Promise<Finding[]>>> = {
  redirect: redirectRow,
  conditions: conditionsRow,
  pages: pagesRow,
  recording: recordingRow,
  storing: storingRow,
  edits: editsRow,
  cold: coldRedirectRow,
  get: (options) => restRow("get", options),
  create: (options) => restRow("create", options),
  quotas: quotasRow,
  grpc: grpcRow,
  mcp: mcpRow,
  qrcode: qrcodeRow,
  paint: paintRow,
  start: startUpRow,
  many: manyRow,
  memory: memoryRow,
  tenants: tenantsRow,
  tls: tlsRow,
  analytics: analyticsRow,
  exports: exportsRow,
  outage: outageRow,
  outbox: outboxRow,
  visitors: visitorsRow,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, minutes: { type: "string" } },
});
const unknown = positionals.filter((name) => rows[name] === undefined);
if (unknown.length > 0) {
  console.error(`no row ${unknown.join(", ")}: there are ${Object.keys(rows).join(", ")}`);
  process.exit(2);
}

const findings: Finding[] = [];
for (const [name, measure] of Object.entries(rows)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.error(`measuring: ${name}`);
  try {
    findings.push(...(await measure(values)));
  } catch (error) {
    console.error(error);
    findings.push({ what: name, ours: "", peer: "", figure: "failed", budget: "", isMet: false });
  }
}
console.log(table(findings));
process.exit(findings.every(({ isMet }) => isMet) ? 0 : 1);
