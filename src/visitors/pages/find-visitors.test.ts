import fc from "fast-check";
import { Kysely, PostgresDialect, sql } from "kysely";
import { expect, test } from "vitest";
import type { DB } from "../../../gen/database.ts";
import { insertWorkspace } from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { newId } from "../../lib/ids.ts";
import { type AttributeOperator, matchesAttribute } from "../../model/visitors/attribute-operators.ts";
import type { AttributeType } from "../../model/workflow/attribute-capture.ts";
import { findVisitors, type VisitorKey, type VisitorQuestion } from "./find-visitors.ts";
import type { AttributeQuestion } from "./match-page.ts";
import { noteVisits } from "./note-visits.ts";
import { createPageCache } from "./page-cache.ts";
import { refreshPages } from "./refresh-pages.ts";
import type { Ranked } from "./top-visitors.ts";

const { db, pool } = await testDatabase();
const seed = 20_261_122;
const links = Array.from({ length: 4 }, () => newId(new Date()));

/** A visitor as the test knows it. */
interface Known {
  readonly id: string;
  readonly createdMs: number;
  firstName: string | null;
  email: string | null;
  readonly attributes: Map<string, { readonly type: AttributeType; readonly value: string }>;
  /** Visits, by link. */
  readonly visits: Map<string, number>;
  devices: number;
}

const keys = ["plan", "seats", "joined", "note"] as const;
const value = fc.oneof(
  fc.constantFrom(
    "",
    "pro",
    "PRO",
    "Zoë",
    "ΟΔΟΣ",
    "100%",
    "a_b\\c",
    "true",
    " 7 ",
    "1e3",
    "2026-11-21",
    "2026-11-20T23:30:00-05:00",
  ),
  fc.integer({ min: -3, max: 3 }).map(String),
  fc.string({ unit: "grapheme", maxLength: 6 }).map((text) => text.replaceAll("\0", "")),
);
const type = fc.constantFrom<AttributeType>("STRING", "NUMBER", "BOOLEAN", "DATE", "ENUM");
const attribute = fc.record({ key: fc.constantFrom(...keys), type, value });

interface GivenAttribute {
  readonly key: string;
  readonly type: AttributeType;
  readonly value: string;
}

const operators = [
  "STRING_EQUALS",
  "STRING_NOT_EQUALS",
  "STRING_CONTAINS",
  "STRING_NOT_CONTAINS",
  "STRING_IS_EMPTY",
  "NUMBER_GREATER_THAN",
  "NUMBER_NOT_EQUALS",
  "DATE_BEFORE_OR_EQUAL",
  "BOOLEAN_IS_TRUE",
  "BOOLEAN_IS_FALSE",
  "EXISTS",
  "NOT_EXISTS",
] as const satisfies readonly AttributeOperator[];

const question = fc
  .record({
    key: fc.constantFrom(...keys, "$email", "$firstName"),
    operator: fc.constantFrom(...operators),
    value,
  })
  .map(({ key, operator, value: text }): AttributeQuestion => {
    const wanted = operator.startsWith("NUMBER") ? "1" : operator.startsWith("DATE") ? "2026-11-21" : text;
    return {
      key,
      operator: key.startsWith("$") && !operator.startsWith("STRING") ? "EXISTS" : operator,
      wanted,
    };
  });

interface Asked {
  readonly questions: readonly AttributeQuestion[];
  readonly search: string | undefined;
  readonly linkId: string | undefined;
  readonly key: VisitorKey;
  readonly ascending: boolean;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  questions: fc.array(question, { maxLength: 3 }),
  search: fc.option(fc.constantFrom("pro", "Ë", "οδοσ", "%", "example.com", "ada p", "\0", "zzz"), {
    nil: undefined,
    freq: 2,
  }),
  linkId: fc.option(fc.constantFrom(...links), { nil: undefined, freq: 3 }),
  key: fc.constantFrom<VisitorKey>("created_at", "visit_count", "device_count", "link_count"),
  ascending: fc.boolean(),
});

test("every list has who a look at each visitor finds, in order, while pages are old, new or half made", async () => {
  const workspaceId = await insertWorkspace(db);
  const known: Known[] = [];
  const cache = createPageCache(1 << 20);
  const tiny = createPageCache(1);
  for (const [step, change] of fc
    .sample(fc.array(attribute, { maxLength: 5 }), { seed, numRuns: 90 })
    .entries()) {
    await changeSome(workspaceId, known, change, step);
    if (step % 9 === 4) while (await refreshPages(db, workspaceId, { visitors: 8 }));
    if (step % 9 === 7) await refreshPages(db, workspaceId, { visitors: 8 });
    if (step % 10 !== 9) continue;
    for (const each of fc.sample(asked, { seed: seed + step, numRuns: 5 })) {
      const found = await everyPage(workspaceId, each, step % 2 === 0 ? cache : tiny);
      expect({ each, found: found.ids }).toEqual({ each, found: expected(known, each) });
      expect(found.totals).toEqual(new Set([found.ids.length]));
    }
  }
});

test("a list decodes no two columns without a turn for other calls in between", async () => {
  const workspaceId = await insertWorkspace(db);
  const known: Known[] = [];
  for (const [step, change] of fc
    .sample(fc.array(attribute, { maxLength: 5 }), { seed, numRuns: 30 })
    .entries())
    await changeSome(workspaceId, known, change, step);
  while (await refreshPages(db, workspaceId, { visitors: 8 }));
  const cache = createPageCache(1 << 20);
  const turns: number[] = [];
  let turn = 0;
  const next = () => {
    turn++;
    timer = setImmediate(next);
  };
  let timer = setImmediate(next);
  const watched = {
    ...cache,
    keep: (...column: Parameters<typeof cache.keep>) => {
      turns.push(turn);
      return cache.keep(...column);
    },
  };
  try {
    const wanted = {
      questions: [],
      search: "a",
      linkId: links[0],
      key: "visit_count",
      ascending: true,
    } as const;
    await everyPage(workspaceId, wanted, watched);
  } finally {
    clearImmediate(timer);
  }
  expect(turns.length).toBeGreaterThan(2);
  expect(new Set(turns).size).toBe(turns.length);
});

test("a damaged page is read as its visitors are now, and made again", async () => {
  const workspaceId = await insertWorkspace(db);
  const at = new Date(Date.UTC(2026, 10, 1));
  const row = { workspace_id: workspaceId, created_at: at, updated_at: at, first_name: "Ada" };
  const ids = Array.from({ length: 20 }, () => newId(at)).toSorted((a, b) => (a < b ? -1 : 1));
  await db
    .insertInto("visitors")
    .values(ids.map((id) => ({ ...row, id })))
    .execute();
  const refreshAll = async () => {
    while (await refreshPages(db, workspaceId, { visitors: 8 }));
  };
  const wanted = {
    questions: [],
    search: "ada",
    linkId: undefined,
    key: "created_at",
    ascending: true,
  } as const;
  const found = async () => (await everyPage(workspaceId, wanted, createPageCache(1 << 20))).ids;
  const notes = async () =>
    (await sql`select from visitors_changed where workspace_id = ${workspaceId}`.execute(db)).rows.length;
  await refreshAll();
  for (const damaged of [
    sql`substring(data for 3)`,
    sql`substring(data for 9)`,
    sql`decode('00000000', 'hex') || data`,
  ])
    for (const name of ["head", "text"]) {
      await sql`update visitors_columns set data = ${damaged} where workspace_id = ${workspaceId} and name = ${name}
        and page = (select max(page) from visitors_pages where workspace_id = ${workspaceId})`.execute(db);
      expect(await found()).toEqual(ids);
      expect(await notes()).toBe(1);
      await refreshAll();
      expect(await found()).toEqual(ids);
      expect(await notes()).toBe(0);
    }
  await sql`update visitors_columns set data = '' where workspace_id = ${workspaceId} and name = 'head'`.execute(
    db,
  );
  await noteVisits(db, [{ workspaceId, visitorId: ids[0] ?? "" }]);
  await refreshAll();
  await found();
  await refreshAll();
  expect(await found()).toEqual(ids);
  expect(await notes()).toBe(0);
});

test("paging shows everybody who stays once, while others come, change and go and pages are made again", async () => {
  const workspaceId = await insertWorkspace(db);
  const cache = createPageCache(1 << 20);
  const at = new Date(Date.UTC(2026, 10, 1));
  const add = async (note: string) => {
    const id = newId(at);
    const row = { workspace_id: workspaceId, created_at: at, updated_at: at };
    await db
      .insertInto("visitors")
      .values({ ...row, id, first_name: note })
      .execute();
    return id;
  };
  const staying = await Promise.all(Array.from({ length: 40 }, () => add("stays")));
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      const id = await add("leaves");
      await db.updateTable("visitors").set({ last_name: "stays" }).where("id", "=", id).execute();
      await db.deleteFrom("visitors").where("id", "=", id).execute();
    }
  })();
  const refreshing = (async () => {
    while (!isOver) await refreshPages(db, workspaceId, { visitors: 8 });
  })();
  try {
    for (let walk = 0; walk < 12; walk++) {
      const wanted = {
        questions: [],
        search: "stays",
        linkId: undefined,
        key: "created_at",
        ascending: walk % 2 === 0,
      } as const;
      const { ids } = await everyPage(workspaceId, wanted, cache);
      expect(ids).toHaveLength(new Set(ids).size);
      expect(new Set(ids.filter((id) => staying.includes(id)))).toEqual(new Set(staying));
    }
  } finally {
    isOver = true;
    await Promise.all([others, refreshing]);
  }
});

test("an index serves every statement of a list, so other workspaces' visitors cost nothing", async () => {
  const statements: { readonly sql: string; readonly parameters: readonly unknown[] }[] = [];
  const logged = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void statements.push(query),
  });
  const workspaceId = await insertWorkspace(db);
  await db
    .insertInto("visitors")
    .values({
      workspace_id: workspaceId,
      id: newId(new Date()),
      created_at: new Date(),
      updated_at: new Date(),
    })
    .execute();
  for (const turn of [1, 2]) {
    const wanted = {
      questions: [],
      search: "a",
      linkId: undefined,
      key: "visit_count",
      ascending: turn === 1,
    } as const;
    await everyPage(workspaceId, wanted, createPageCache(1));
    await refreshPages(logged, workspaceId);
  }
  await findVisitors(logged, createPageCache(1), {
    workspaceId,
    wanted: { questions: [], search: "a", linkId: undefined, timezone: "" },
    key: "visit_count",
    ascending: true,
    after: undefined,
    limit: 1,
  });
  const client = await pool.connect();
  let explained = 0;
  try {
    await client.query("set enable_seqscan = off");
    for (const { sql: text, parameters } of statements.filter(({ sql: text }) =>
      /^\s*(?:select|with)\b/.test(text),
    )) {
      const plan = await client.query<{ "QUERY PLAN": string }>(`explain ${text}`, [...parameters]);
      const lines = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
      expect(lines).not.toContain("Seq Scan");
      explained += 1;
    }
  } finally {
    await client.query("reset enable_seqscan");
    client.release();
  }
  expect(explained).toBeGreaterThan(8);
});

async function everyPage(
  workspaceId: string,
  { key, ascending, ...wanted }: Asked,
  cache: ReturnType<typeof createPageCache>,
) {
  const ids: string[] = [];
  const totals = new Set<number>();
  for (let after: Ranked | undefined; ; ) {
    const asking: VisitorQuestion = {
      workspaceId,
      wanted: { ...wanted, timezone: "Europe/Berlin" },
      key,
      ascending,
      after,
      limit: 7,
    };
    const { ranked, total } = await findVisitors(db, cache, asking);
    totals.add(total);
    ids.push(...ranked.map(({ id }) => id));
    after = ranked.at(-1);
    if (after === undefined) return { ids, totals };
  }
}

function expected(known: readonly Known[], { questions, search, linkId, key, ascending }: Asked): string[] {
  const keyOf = (each: Known) =>
    ({
      created_at: each.createdMs,
      visit_count: [...each.visits.values()].reduce((sum, count) => sum + count, 0),
      device_count: each.devices,
      link_count: each.visits.size,
    })[key];
  return known
    .filter((each) => linkId === undefined || each.visits.has(linkId))
    .filter(
      (each) =>
        search === undefined ||
        textsOf(each).some((text) => text.toLowerCase().includes(search.toLowerCase())),
    )
    .filter((each) =>
      questions.every(({ key: name, operator, wanted }) =>
        matchesAttribute(operator, attributeOf(each, name), wanted, "Europe/Berlin"),
      ),
    )
    .toSorted((a, b) => (keyOf(a) - keyOf(b) || (a.id < b.id ? -1 : 1)) * (ascending ? 1 : -1))
    .map(({ id }) => id);
}

// The final sigma is the same letter.
function textsOf({ firstName, email, attributes }: Known): string[] {
  const texts = [firstName, email, ...[...attributes.values()].map((each) => each.value)];
  return texts.flatMap((text) => (text === null ? [] : text.toLowerCase().replaceAll("ς", "σ")));
}

function attributeOf({ firstName, email, attributes }: Known, key: string) {
  const reserved = new Map([
    ["$firstName", firstName],
    ["$email", email],
  ]);
  const text = reserved.get(key);
  if (text !== undefined) return text === null ? undefined : ({ type: "STRING", value: text } as const);
  return attributes.get(key);
}

/** Makes a visitor, and changes or deletes others. */
async function changeSome(
  workspaceId: string,
  known: Known[],
  given: readonly GivenAttribute[],
  step: number,
) {
  const createdMs = Date.UTC(2026, 10, 1) + ((step * 37) % 101) * 1_000;
  const own: Known = {
    // Ids are not in the order of creation.
    id: newId(new Date(createdMs - (step % 5) * 7_000)),
    createdMs,
    firstName: step % 3 === 0 ? null : step % 4 === 0 ? "Ada P" : "",
    email: step % 4 === 1 ? null : `v${step}@example.com`,
    attributes: new Map(),
    visits: new Map(),
    devices: 0,
  };
  known.push(own);
  const row = { workspace_id: workspaceId, created_at: new Date(createdMs), updated_at: new Date(createdMs) };
  await db
    .insertInto("visitors")
    .values({ ...row, id: own.id, email: own.email, first_name: own.firstName })
    .execute();
  for (const { key, ...attribute } of given) {
    const whose = known[(step * 13 + key.length) % known.length] ?? own;
    whose.attributes.set(key, attribute);
    await sql`insert into visitor_attributes (workspace_id, visitor_id, key, type, value, created_at, updated_at)
      values (${workspaceId}, ${whose.id}, ${key}, ${attribute.type}, ${attribute.value}, now(), now())
      on conflict (workspace_id, visitor_id, key) do update set type = excluded.type, value = excluded.value`.execute(
      db,
    );
  }
  if (step % 6 === 3)
    await visit(workspaceId, known[(step * 7) % known.length] ?? own, links[step % links.length] ?? "");
  if (step % 10 === 5) await forgetSome(workspaceId, known, known[(step * 11) % known.length] ?? own);
  if (step % 8 === 2) {
    own.firstName = "Zoë";
    await db.updateTable("visitors").set({ first_name: "Zoë" }).where("id", "=", own.id).execute();
  }
}

async function visit(workspaceId: string, whose: Known, linkId: string): Promise<void> {
  whose.visits.set(linkId, (whose.visits.get(linkId) ?? 0) + 1);
  await sql`insert into visitor_links (workspace_id, visitor_id, link_id, event_count, first_visited_at, last_visited_at)
    values (${workspaceId}, ${whose.id}, ${linkId}, 1, now(), now())
    on conflict (workspace_id, visitor_id, link_id) do update set event_count = visitor_links.event_count + 1`.execute(
    db,
  );
  await noteVisits(db, [{ workspaceId, visitorId: whose.id }]);
  whose.devices += 1;
  await sql`insert into devices (workspace_id, id, visitor_id, device_type, device_actor, last_used_at, created_at, updated_at)
    values (${workspaceId}, ${newId(new Date())}, ${whose.id}, 'MOBILE', 'HUMAN', now(), now(), now())`.execute(
    db,
  );
}

async function forgetSome(workspaceId: string, known: Known[], whose: Known): Promise<void> {
  if (whose.attributes.size > 0) {
    whose.attributes.clear();
    await db.deleteFrom("visitor_attributes").where("visitor_id", "=", whose.id).execute();
    return;
  }
  known.splice(known.indexOf(whose), 1);
  await sql`delete from visitor_links where workspace_id = ${workspaceId} and visitor_id = ${whose.id}`.execute(
    db,
  );
  await db.deleteFrom("visitors").where("id", "=", whose.id).execute();
}
