import http from "node:http";
import { loadPlan } from "../../src/db/load-plan.ts";
import { openDatabase } from "../../src/db/open.ts";
import { timedGet } from "./paced.ts";
import { atMost, type Finding, median, percentile } from "./report.ts";
import { databaseOf, startServiceProcess } from "./service-process.ts";
import { post } from "./visits.ts";

/** The time of a link's first visit, compared with the time that the database needs for the same statement. */
export async function coldRedirectRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess();
  const { db, close } = openDatabase({
    connection: databaseOf(service.dataDir),
    poolSize: 1,
    statementTimeoutMs: 10_000,
    onError: (error) => {
      throw error;
    },
  });
  const agent = new http.Agent({ keepAlive: true });
  try {
    const names = Array.from({ length: quick ? 150 : 500 }, (_, index) => `cold-${index}`);
    for (const shortlink of names)
      await post(service, "/v1/links", { destination: "https://example.com", shortlink });
    const cold: number[] = [];
    const database: number[] = [];
    // The code is warm; only the links are cold.
    for (const [index, name] of names.entries()) {
      const redirectMs = await timedGet({ port: service.port, agent, path: `/${name}` }, 302);
      const startedAt = performance.now();
      await loadPlan(db, "", name);
      if (index < 50) continue;
      cold.push(redirectMs);
      database.push(performance.now() - startedAt);
    }
    const over = (of: (times: readonly number[]) => number) => ({
      ours: of(cold) - of(database),
      peer: `${of(database).toFixed(2)} ms`,
      unit: "ms",
      budget: 3,
    });
    return [
      atMost("cold redirect over the database's own time, median", over(median)),
      atMost(
        "  95 of 100 over 95 of 100",
        over((times) => percentile(times, 0.95)),
      ),
    ];
  } finally {
    agent.destroy();
    await close();
    await service.remove();
  }
}
