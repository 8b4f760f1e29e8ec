import { writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { exportColumns } from "../../src/exports/columns.ts";
import { makePartitions } from "./analytics.ts";
import { makeVisits } from "./analytics-visits.ts";
import { atMost, type Finding, median, told } from "./report.ts";
import { megabytes, processorMs, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { call, post } from "./visits.ts";

const dayMs = 86_400_000;

interface Made {
  readonly id: string;
  readonly status: string;
  readonly size: string;
  readonly rowCount: string;
  readonly createdAt: string;
  readonly completedAt?: string;
}

/**
 * Files of all events of a workspace, in each format, as a customer asks for them, beside one COPY of the same columns
 * to nowhere. Ten million events in a minute are 6 µs each.
 */
export async function exportsRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess();
  const client = await service.database();
  try {
    const until = new Date(Math.floor(Date.now() / dayMs) * dayMs);
    const { rows } = await client.query<{ id: string }>("select id from workspaces limit 1");
    const workspaceId = rows[0]?.id ?? "";
    await makePartitions(service, until);
    await makeVisits(client, { workspaceId, seed: 1, visits: quick ? 200_000 : 1_000_000, until });
    await client.query("vacuum analyze");
    const findings: Finding[] = [];
    for (const format of ["CSV", "NDJSON", "PARQUET"])
      findings.push(...(await measureFormat(service, client, workspaceId, format)));
    return findings;
  } finally {
    await client.end();
    await service.remove();
  }
}

async function measureFormat(
  service: ServiceProcess,
  client: pg.Client,
  workspaceId: string,
  format: string,
): Promise<Finding[]> {
  const before = await copyMs(client, workspaceId);
  // The peak begins anew with what the process has now.
  await writeFile(`/proc/${service.pid}/clear_refs`, "5");
  const usedBefore = await processorMs(service.pid);
  const made = await finished(
    service,
    await post<Made>(service, "/v1/exports", { format: `EXPORT_FORMAT_${format}` }),
  );
  const used = (await processorMs(service.pid)) - usedBefore;
  const peak = await megabytes(`/proc/${service.pid}/status`, "VmHWM");
  const ms = Date.parse(made.completedAt ?? "") - Date.parse(made.createdAt);
  const count = Number(made.rowCount);
  const copied = median([before, await copyMs(client, workspaceId)]);
  return [
    atMost(`${format}, an event`, {
      ours: (ms * 1_000) / count,
      peer: `${Math.round((count * 1_000) / ms).toLocaleString("en")} events/s`,
      unit: "µs",
      budget: 6,
    }),
    told("  COPY of the same columns", {
      ours: (copied * 1_000) / count,
      peer: `${(ms / copied).toFixed(2)} ×`,
      unit: "µs",
    }),
    told("  processor time of the service", { ours: (used * 1_000) / count, unit: "µs" }),
    told("  size of an event", { ours: Number(made.size) / count, unit: "bytes" }),
    atMost("  peak memory of the service", { ours: peak, unit: "MB", budget: 400 }),
  ];
}

async function finished(service: ServiceProcess, { id }: Made): Promise<Made> {
  for (;;) {
    const made = await call<Made>(service, "GET", `/v1/exports/${id}`);
    if (made.status === "JOB_STATUS_FAILED") throw new Error(JSON.stringify(made));
    if (made.completedAt !== undefined) return made;
    await pause(50);
  }
}

/** How long the server takes to write the columns of events and devices as CSV to nowhere. */
async function copyMs(client: pg.Client, workspaceId: string): Promise<number> {
  const columns = exportColumns
    .filter((column) => column.of !== "constant")
    .map(({ of, expression }) =>
      of === "device" ? `devices.${expression}` : expression.replace(/^(?!case|outcome)/, "events."),
    );
  const startedAt = performance.now();
  await client.query(`copy (select ${qualified(columns)} from events left join devices
      on devices.workspace_id = events.workspace_id and devices.id = events.device_id
    where events.workspace_id = ${client.escapeLiteral(workspaceId)} and events.locked_number is null
    order by events.id) to '/dev/null' (format csv)`);
  return performance.now() - startedAt;
}

/** Says of the one expression with two columns whose `id` it means. */
function qualified(columns: readonly string[]): string {
  return columns.map((column) => column.replace("then id end", "then events.id end")).join();
}
