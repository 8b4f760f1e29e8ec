import type pg from "pg";
import { pino } from "pino";
import { createLinksJob } from "../../src/api/links/bulk-job.ts";
import { createEntitlements } from "../../src/db/entitlements.ts";
import { openDatabase } from "../../src/db/open.ts";
import { jobCalls } from "../../src/jobs/queue.ts";
import { startJobs } from "../../src/jobs/runner.ts";
import { randomShortlink } from "../../src/model/links/shortlink.ts";
import { defaultPlans } from "../../src/model/plans/plan-table.ts";
import { checkRequest } from "../../src/rpc/pipeline/validate.ts";

/*
 * The worker that makes links, as a separate process, which tests kill: `node worker-process.ts '{"connection":{…}}'`. It
 * prints a line when it has loaded everything, and takes jobs once it reads one.
 */

const { connection }: { readonly connection: pg.ConnectionConfig } = JSON.parse(process.argv[2] ?? "{}");
const { db } = openDatabase({ connection, poolSize: 2, statementTimeoutMs: 30_000, onError: () => {} });
const now = () => new Date();
const createLinks = createLinksJob({
  db,
  now,
  newShortlink: randomShortlink,
  jobCalls,
  shortUrl: "https://short.test",
  bulkJobLinks: 10_000,
  entitlements: createEntitlements({ plans: defaultPlans, now }),
  checkRequest: async (...request) => checkRequest(...request),
});

process.stdout.write("loaded\n");
process.stdin.once("data", () => {
  startJobs({
    connection,
    tasks: { "create-links": createLinks },
    concurrency: 1,
    stopTimeoutMs: 1_000,
    recoveryIntervalMs: 200,
    log: pino({ level: "silent" }),
  });
});
