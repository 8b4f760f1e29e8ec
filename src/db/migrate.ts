import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import type pg from "pg";
import { uuidFromTime } from "../lib/ids.ts";
import * as foundation from "./migrations/0001-foundation.ts";
import * as visits from "./migrations/0002-visits.ts";
import * as qrcodesAndMedia from "./migrations/0003-qrcodes-and-media.ts";
import * as jobs from "./migrations/0009-jobs.ts";
import * as people from "./migrations/0010-people.ts";
import * as quotas from "./migrations/0014-quotas.ts";
import * as sandboxes from "./migrations/0015-sandboxes.ts";
import * as segments from "./migrations/0016-segments.ts";
import * as dashboards from "./migrations/0017-dashboards.ts";
import * as visitorSearch from "./migrations/0018-visitor-search.ts";
import * as exports from "./migrations/0019-exports.ts";
import * as pageThemeTemplates from "./migrations/0020-page-theme-templates.ts";
import * as outbox from "./migrations/0022-outbox.ts";
import * as slack from "./migrations/0024-slack.ts";
import * as googleForms from "./migrations/0025-google-forms.ts";
import * as oauth from "./migrations/0026-oauth.ts";
import * as agents from "./migrations/0027-agents.ts";
import * as assistant from "./migrations/0028-assistant.ts";
import * as customDomains from "./migrations/0029-custom-domains.ts";
import * as certificates from "./migrations/0030-certificates.ts";
import type { Db } from "./open.ts";

const migrations: Record<string, Migration> = {
  "0001-foundation": foundation,
  "0002-visits": visits,
  "0003-qrcodes-and-media": qrcodesAndMedia,
  "0009-jobs": jobs,
  "0010-people": people,
  "0014-quotas": quotas,
  "0015-sandboxes": sandboxes,
  "0016-segments": segments,
  "0017-dashboards": dashboards,
  "0018-visitor-search": visitorSearch,
  "0019-exports": exports,
  "0020-page-theme-templates": pageThemeTemplates,
  "0022-outbox": outbox,
  "0024-slack": slack,
  "0025-google-forms": googleForms,
  "0026-oauth": oauth,
  "0027-agents": agents,
  "0028-assistant": assistant,
  "0029-custom-domains": customDomains,
  "0030-certificates": certificates,
};

/** How many months of event partitions are made ahead of time. */
const monthsAhead = 3;

/**
 * Brings the schema up to date: ours, the job queue's, and the event partitions around `now`. Two processes may call it
 * at once: one applies the changes, the other waits.
 */
export async function migrate(db: Db, pool: pg.Pool, now: Date): Promise<void> {
  if (!(await isUpToDate(db))) {
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
    const { error, results } = await migrator.migrateToLatest();
    if (error !== undefined) {
      const failed = results?.find((result) => result.status === "Error")?.migrationName ?? "unknown";
      throw new Error(`migration ${failed} failed`, { cause: error });
    }
    // If only the queue's version is newer, the queue migrates by itself when its worker starts.
    const { runMigrations } = await import("graphile-worker");
    await runMigrations({ pgPool: pool });
  }
  await ensurePartitions(db, now);
}

/** Checks with one statement; every start after the first saves a dozen others. */
async function isUpToDate(db: Db): Promise<boolean> {
  const { rows } = await sql<{ present: boolean }>`select
    to_regclass('public.kysely_migration') is not null and to_regclass('graphile_worker.migrations') is not null
    as present`.execute(db);
  if (rows[0]?.present !== true) return false;
  const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const names = new Set(applied.rows.map(({ name }) => name));
  return Object.keys(migrations).every((name) => names.has(name));
}

/**
 * Makes the missing monthly partitions of events and traces, from the month before `now` on: simulated visits go four weeks
 * back.
 */
export async function ensurePartitions(db: Db, now: Date): Promise<void> {
  const months = Array.from({ length: monthsAhead + 2 }, (_, place) => place - 1);
  const wanted = months.flatMap((ahead) => partitionsOf(now, ahead));
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relname = any(${wanted.map(({ name }) => name)})`.execute(
    db,
  );
  const existing = new Set(rows.map(({ name }) => name));
  for (const { table, name, from, to } of wanted) {
    if (existing.has(name)) continue;
    await sql`create table if not exists ${sql.table(name)} partition of ${sql.table(table)}
      for values from (${sql.lit(uuidFromTime(from))}) to (${sql.lit(uuidFromTime(to))})`.execute(db);
  }
}

function partitionsOf(now: Date, ahead: number) {
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1));
  const to = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead + 1, 1));
  const suffix = from.toISOString().slice(0, 7).replace("-", "_");
  return ["events", "traces"].map((table) => ({ table, name: `${table}_${suffix}`, from, to }));
}
