import { readFileSync } from "node:fs";
import type { Db } from "../../src/db/open.ts";
import { newId } from "../../src/lib/ids.ts";
import { addSubscriber, removeSubscriber } from "../../src/outbox/subscribers.ts";
import { createClassifier } from "../../src/scan/device/classify.ts";
import { nowhere } from "../../src/scan/device/geography.ts";
import type { RecordText } from "../../src/scan/spool/framed-records.ts";
import { openStore, withFreshPlans } from "../../src/scan/store/open-store.ts";
import { createRecordStore } from "../../src/scan/store/store-records.ts";
import { chunkOf } from "../support/chunk-of.ts";
import { restApi } from "../support/rest-api.ts";
import { atMost, type Finding, told } from "./report.ts";
import { databaseOf, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { answerRecords, pageRecords, plainRecords } from "./storing-records.ts";
import { createLinks } from "./visits.ts";

/*
 * Stores records as the storing thread does, and asks the kernel how long the server process behind the connection
 * worked. On a busy machine this figure moves far less than the time that passes.
 */

/** How many records the drain reads at a time. */
const batchSize = 2_000;

/** What one statement, told by its first words, has cost so far. */
interface Cost {
  calls: number;
  microseconds: number;
}

type Costs = Map<string, Cost>;

/** A record as it is given to the spool. */
export interface Recorded {
  readonly id: Buffer;
  readonly text: RecordText;
}

/** The processor time of PostgreSQL and the bytes on disk of a plain visit, and the same of an answer to a page. */
export async function storingRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess();
  const { db, costs, storeAll, close } = openBenchStore(service);
  try {
    await createLinks(service);
    const findings = await measureVisits({ db, service, costs, storeAll }, quick ? 20_000 : 100_000);
    return [...findings, ...(await measureAnswers({ db, service, costs, storeAll }, quick ? 1_000 : 3_000))];
  } finally {
    await close();
    await service.remove();
  }
}

/** Opens what stores records of visits in the database of a service. */
export function openBenchStore(
  service: ServiceProcess,
): Omit<Measuring, "service"> & { close(): Promise<void> } {
  const costs: Costs = new Map();
  const { db, pool, close } = openStore({
    connection: databaseOf(service.dataDir),
    statementTimeoutMs: 60_000,
  });
  pool.on("connect", (client) => watchCosts(client, costs));
  const store = withFreshPlans(
    db,
    createRecordStore(db, {
      classify: createClassifier(),
      geography: { placeOf: () => nowhere },
      key: "00".repeat(32),
    }),
  );
  const storeAll = async (records: readonly Recorded[]) => {
    for (let start = 0; start < records.length; start += batchSize) {
      const stored = await store([chunkOf(records.slice(start, start + batchSize))], new Date());
      if (stored.poison.length + stored.early.length > 0) throw new Error("some records were not stored");
    }
  };
  return { db, costs, storeAll, close };
}

interface Measuring {
  readonly db: Db;
  readonly service: ServiceProcess;
  readonly costs: Costs;
  readonly storeAll: (records: readonly Recorded[]) => Promise<void>;
}

async function measureVisits(
  { db, service, costs, storeAll }: Measuring,
  visits: number,
): Promise<Finding[]> {
  // The devices are known afterwards, as most devices are that come again.
  await storeAll(await plainRecords(db, 10_000));
  const before = await diskBytes(service);
  const records = await plainRecords(db, visits);
  costs.clear();
  await storeAll(records);
  const plain = total(costs) / visits;
  const plainCosts = dearest(costs, visits);
  const after = await diskBytes(service);
  const listening = await costOfListening({ db, costs, storeAll }, visits);
  const bytes = (after.total - before.total) / visits;
  return [
    atMost("PostgreSQL's processor time a plain visit", {
      ours: plain,
      unit: "µs",
      budget: 40,
    }),
    ...plainCosts,
    ...listening,
    atMost("disk a plain visit, with its indexes", { ours: bytes, unit: "bytes", budget: 300 }),
    ...[...after.tables]
      .map(([table, size]) => ({ table, ours: (size - (before.tables.get(table) ?? 0)) / visits }))
      .filter(({ ours }) => ours >= 1)
      .sort((a, b) => b.ours - a.ours)
      .map(({ table, ours }) => told(`  ${table}`, { ours, unit: "bytes" })),
  ];
}

/** What it costs besides when a webhook listens: the statements of the outbox, beside all those of the visit. */
async function costOfListening(
  { db, costs, storeAll }: Pick<Measuring, "db" | "costs" | "storeAll">,
  visits: number,
): Promise<Finding[]> {
  const { id: workspaceId } = await db.selectFrom("workspaces").select("id").executeTakeFirstOrThrow();
  const at = new Date();
  const key = { workspaceId, subscriberId: newId(at) };
  await addSubscriber(db, { ...key, kind: "WEBHOOK", status: "ACTIVE", linkId: null, triggers: [], at });
  const records = await plainRecords(db, visits);
  costs.clear();
  await storeAll(records);
  const all = total(costs);
  const ofOutbox = total(
    new Map([...costs].filter(([words]) => /outbox_intake|signpost_outbox/.test(words))),
  );
  await removeSubscriber(db, key);
  return [
    told("PostgreSQL's processor time a visit that a webhook hears of", { ours: all / visits, unit: "µs" }),
    atMost("  queueing it, as a share of storing it", {
      ours: (100 * ofOutbox) / (all - ofOutbox),
      peer: `${(ofOutbox / visits).toFixed(2)} µs`,
      unit: "%",
      budget: 10,
    }),
  ];
}

async function measureAnswers(
  { db, service, costs, storeAll }: Measuring,
  visits: number,
): Promise<Finding[]> {
  const api = restApi(`http://127.0.0.1:${service.port}`, service.credentials.accessToken);
  const pages = await pageRecords(db, api, visits);
  await storeAll(pages.map(({ record }) => record));
  costs.clear();
  for (const number of [1, 2, 3]) await storeAll(answerRecords(pages, number));
  const answers = visits * 3;
  const calls = [...costs.values()].reduce((sum, cost) => sum + cost.calls, 0);
  return [
    told("PostgreSQL's processor time an answer", { ours: total(costs) / answers, unit: "µs" }),
    told("  statements an answer", { ours: calls / answers, unit: "" }),
    ...dearest(costs, answers),
  ];
}

function total(costs: Costs): number {
  return [...costs.values()].reduce((sum, { microseconds }) => sum + microseconds, 0);
}

function dearest(costs: Costs, records: number): Finding[] {
  return [...costs]
    .sort(([, a], [, b]) => b.microseconds - a.microseconds)
    .filter(([, { microseconds }]) => microseconds / records >= 0.3)
    .map(([words, { calls, microseconds }]) =>
      told(`  ${words}`, { ours: microseconds / records, peer: `${calls} ×`, unit: "µs" }),
    );
}

/** Adds up what each statement of a connection costs its server process. */
function watchCosts(client: object, costs: Costs): void {
  // The pool's clients have both, but their type lacks the number of the server process.
  const watched = client as { processID: number; query(...parts: readonly unknown[]): Promise<unknown> };
  const query = watched.query.bind(watched);
  const microseconds = () =>
    Number(readFileSync(`/proc/${watched.processID}/schedstat`, "latin1").split(" ")[0]) / 1_000;
  watched.query = async (...parts) => {
    const before = microseconds();
    try {
      return await query(...parts);
    } finally {
      const words = firstWords(String(parts[0]));
      const cost = costs.get(words) ?? { calls: 0, microseconds: 0 };
      cost.calls += 1;
      cost.microseconds += microseconds() - before;
      costs.set(words, cost);
    }
  };
}

function firstWords(statement: string): string {
  const words = statement.replaceAll(/\s+/g, " ").trim();
  return (/(?:insert into|update|delete from) \w+/.exec(words)?.[0] ?? words).slice(0, 80);
}

interface DiskBytes {
  readonly total: number;
  readonly tables: ReadonlyMap<string, number>;
}

async function diskBytes(service: ServiceProcess): Promise<DiskBytes> {
  const client = await service.database();
  const { rows } = await client.query<{ name: string; bytes: number }>(
    `select relname as name, pg_relation_size(oid)::float8 as bytes from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')`,
  );
  await client.end();
  const tables = new Map(rows.map(({ name, bytes }) => [name, bytes]));
  return { tables, total: rows.reduce((sum, { bytes }) => sum + bytes, 0) };
}
