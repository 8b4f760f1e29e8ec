import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { atMost, type Finding, median, percentile, told } from "./report.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { addVisitors, attributeKeys } from "./visitors-data.ts";
import { post } from "./visits.ts";

/** Lists of visitors of one workspace, by what they ask for. `--quick` leaves out the million. */
export async function visitorsRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [count, budget] of [[100_000, 50] as const, ...(quick ? [] : [[1_000_000, 150] as const])]) {
    const service = await startServiceProcess();
    try {
      findings.push(...(await measure(service, count, budget, quick ? 7 : 15)));
    } finally {
      await service.remove();
    }
  }
  return findings;
}

async function measure(
  service: ServiceProcess,
  count: number,
  budget: number,
  rounds: number,
): Promise<Finding[]> {
  const database = await service.database();
  const linkIds: string[] = [];
  for (let index = 0; index < 20; index++) {
    const { link } = await post<{ link: { id: string } }>(service, "/v1/links", {
      destination: "https://example.com",
    });
    linkIds.push(link.id);
  }
  await addVisitors(database, { workspaceId: service.credentials.workspaceId, linkIds, count });
  const refreshSeconds = await refreshed(database);
  const size = await database.query<{ bytes: number }>(
    "select pg_total_relation_size('visitors_columns')::float8 / 1e6 as bytes",
  );
  await database.query("vacuum visitors");
  const ms: (readonly [string, number, number, number])[] = [];
  for (const [what, body] of Object.entries(questions(linkIds))) {
    const timed = async () => {
      const startedAt = performance.now();
      await post(service, "/v1/visitors/search", body);
      return performance.now() - startedAt;
    };
    const first = await timed();
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push(await timed());
    ms.push([what, median(times), first, percentile(times, 0.95)]);
  }
  await database.end();
  const of = count.toLocaleString("en");
  return [
    told(`${of} visitors: the pages of all are made in`, { ours: refreshSeconds, unit: "s" }),
    told("  and take on disk", { ours: size.rows[0]?.bytes ?? Number.NaN, unit: "MB" }),
    ...ms.map(([what, ours, first, slow]) =>
      atMost(`  ${what}`, {
        ours,
        unit: "ms",
        budget,
        peer: `first ${first.toFixed(0)}, 95 % ${slow.toFixed(0)} ms`,
      }),
    ),
  ];
}

/** Waits for the job that makes the pages, which runs each minute. Returns how many seconds it took to finish. */
async function refreshed(database: pg.Client): Promise<number> {
  let beganAt: number | undefined;
  for (;;) {
    const { rows } = await database.query<{ left: boolean; made: boolean }>(
      "select exists (select from visitors_changed union all select from visitors_visited) as left, exists (select from visitors_pages) as made",
    );
    const { left = true, made = false } = rows[0] ?? {};
    const { rows: running } = await database.query(
      "select from pg_locks where locktype = 'advisory' and classid = 7251009",
    );
    if (running.length > 0) beganAt ??= performance.now();
    if (made && !left) return beganAt === undefined ? Number.NaN : (performance.now() - beganAt) / 1_000;
    await pause(100);
  }
}

/** What the bench asks for, by name. */
function questions(linkIds: readonly string[]): Readonly<Record<string, object>> {
  const filter = (key: string, operator: string, value = "") => ({
    key,
    operator: `VISITOR_ATTRIBUTE_FILTER_OPERATOR_${operator}`,
    value,
  });
  const filters = (...attributeFilters: object[]) => ({ attributeFilters });
  const twenty = Array.from({ length: 20 }, (_, place) => attributeKeys[place % attributeKeys.length] ?? "");
  return {
    "newest first": {},
    "by visits": { sortField: "VISITOR_SORT_FIELD_VISIT_COUNT" },
    "by visits, fewest first": {
      sortField: "VISITOR_SORT_FIELD_VISIT_COUNT",
      sortDirection: "SORT_DIRECTION_ASC",
    },
    "by links": { sortField: "VISITOR_SORT_FIELD_QRCODE_COUNT" },
    "of a link": { linkId: linkIds[3] },
    "search: everybody": { search: "example" },
    "search: one letter": { search: "e" },
    "search: a few": { search: "person4711@" },
    "search: nobody": { search: "nobody at all" },
    STRING_EQUALS: filters(filter("plan", "STRING_EQUALS", "pro")),
    STRING_NOT_EQUALS: filters(filter("plan", "STRING_NOT_EQUALS", "pro")),
    "STRING_CONTAINS, all values differ": filters(filter("reference", "STRING_CONTAINS", "abc")),
    "STRING_IS_EMPTY, nobody has it": filters(filter("nothing", "STRING_IS_EMPTY")),
    NUMBER_GREATER_THAN: filters(filter("seats", "NUMBER_GREATER_THAN", "250")),
    DATE_BEFORE: filters(filter("joined", "DATE_BEFORE", "2025-01-01")),
    BOOLEAN_IS_FALSE: filters(filter("active", "BOOLEAN_IS_FALSE")),
    "three filters": filters(
      filter("plan", "STRING_NOT_EQUALS", "free"),
      filter("seats", "NUMBER_GREATER_THAN", "100"),
      filter("city", "STRING_STARTS_WITH", "City 1"),
    ),
    "twenty filters that everybody matches": filters(
      ...twenty.map((key) => filter(key, "STRING_NOT_EQUALS", "x")),
    ),
    "three filters, a link and a text, by visits": {
      ...filters(
        filter("plan", "EXISTS"),
        filter("seats", "NUMBER_LESS_THAN", "400"),
        filter("city", "STRING_NOT_CONTAINS", "99"),
      ),
      linkId: linkIds[3],
      search: "company",
      sortField: "VISITOR_SORT_FIELD_VISIT_COUNT",
    },
    "the same as CSV": { ...filters(filter("plan", "EXISTS")), responseFormat: "RESPONSE_FORMAT_CSV" },
  };
}
