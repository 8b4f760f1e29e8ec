import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Selectable } from "kysely";
import type pg from "pg";
import type { Logger } from "pino";
import type { Exports } from "../../../gen/database.ts";
import { checkFileLater } from "../../db/file-checks.ts";
import type { Db } from "../../db/open.ts";
import { runExport } from "../../exports/export-thread.ts";
import type { WrittenFile } from "../../exports/write-export.ts";
import type { Storage } from "../../lib/storage/storage.ts";
import { exportBytesMax, exportEndings, exportKeptMs, exportRunsMax } from "../../model/exports.ts";
import type { QueuedJobs } from "../../model/jobs.ts";
import type { CountExport, EndedExport } from "./metrics.ts";
import { beginRun, giveUp, noteProgress, type Run, succeed } from "./run-queries.ts";

export interface ExportDeps {
  readonly db: Db;
  readonly storage: Storage;
  readonly now: () => Date;
  readonly log: Pick<Logger, "info">;
  readonly countExport: CountExport;
  /** Where the thread that writes a file finds the database. */
  readonly connection: pg.ClientConfig;
  /** The folder of files that are not finished. */
  readonly folder: string;
  /** The most bytes of a file; 5 GB when absent. */
  readonly bytesMax?: number;
  /** How many events are read at a time; 32,768 when absent. */
  readonly portionRows?: number;
  /** How long a run that has lost its turn waits before another one begins, in milliseconds; 5,000 when absent. */
  readonly restartMs?: number;
}

/**
 * The job that writes an export. The file is offered once it is stored as a whole. A run that is cut short leaves
 * nothing that anybody is offered, and the next one begins again.
 */
export function exportEventsJob(
  deps: ExportDeps,
): (payload: QueuedJobs["export-events"], signal: AbortSignal) => Promise<void> {
  return async ({ workspaceId, exportId }, signal) => {
    await deleteLeftovers(deps);
    // A run that has lost its turn makes room for another, as long as the export is wanted. The next one waits, so that
    // it begins after many deletions instead of after each.
    for (;;) {
      const run = { workspaceId, exportId, run: randomUUID() };
      const row = await beginRun(deps.db, run);
      if (row === undefined || (row !== "busy" && (await runOnce(deps, run, row, signal)))) return;
      await sleep(deps.restartMs ?? 5_000, undefined, { signal });
    }
  };
}

/** True when there is nothing left to do, false when the run has lost its turn. */
async function runOnce(
  deps: ExportDeps,
  run: Run,
  row: Selectable<Exports>,
  signal: AbortSignal,
): Promise<boolean> {
  const { db, now, countExport } = deps;
  const fail = async (outcome: EndedExport["outcome"], reason: string, message: string) => {
    const at = now();
    await giveUp(db, run, { reason, message, at, expiresAt: new Date(at.getTime() + exportKeptMs) });
    countExport({ outcome, rows: 0, seconds: secondsSince(row.created_at, at) });
    return true;
  };
  if (row.runs > exportRunsMax)
    return fail(
      "interrupted",
      "INTERNAL",
      `the export was interrupted ${exportRunsMax} times; ask for it again`,
    );
  const path = join(deps.folder, `${run.run}.part`);
  try {
    const file = await write(deps, run, row, { path, signal });
    if (file === "too large")
      return await fail(
        "too_large",
        "RESOURCE_EXHAUSTED",
        "the file is larger than 5 GB; ask for fewer days at a time",
      );
    return file !== undefined && (await offer(deps, run, row, { path, file }));
  } finally {
    await rm(path, { force: true });
  }
}

/** How often the progress is noted at most, in milliseconds. */
const progressMs = 500;

/** Writes the file; undefined when the run has lost its turn. */
async function write(
  { db, connection, bytesMax = exportBytesMax, portionRows }: ExportDeps,
  run: Run,
  row: Selectable<Exports>,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): Promise<WrittenFile | "too large" | undefined> {
  const lost = new AbortController();
  let noted = performance.now();
  let noting: Promise<void> | undefined;
  const onProgress = (rows: number) => {
    if (noting !== undefined || performance.now() - noted < progressMs) return;
    noting = noteProgress(db, run, rows)
      .then((isOurs) => {
        if (!isOurs) lost.abort();
      })
      // The end of the run meets the same fault, or shows that it has passed.
      .catch(() => {})
      .finally(() => {
        noted = performance.now();
        noting = undefined;
      });
  };
  const { link_id: linkId, starts_at: from, ends_at: to, format, workspace_id: workspaceId } = row;
  const order = {
    workspaceId,
    linkId: linkId ?? undefined,
    from,
    to,
    format,
    path,
    bytesMax,
    ...(portionRows !== undefined && { portionRows }),
  };
  try {
    return await runExport({ connection, order, onProgress, signal: AbortSignal.any([signal, lost.signal]) });
  } catch (error) {
    if (lost.signal.aborted) return undefined;
    throw error;
  } finally {
    await noting;
  }
}

/** Stores a file and offers it. False when the run has lost its turn: the file is deleted. */
async function offer(
  { db, storage, now, log, countExport }: ExportDeps,
  run: Run,
  row: Selectable<Exports>,
  { path, file }: { readonly path: string; readonly file: WrittenFile },
): Promise<boolean> {
  const { workspaceId, exportId } = run;
  const [from, to] = [row.starts_at, row.ends_at].map((time) => time.toISOString().slice(0, 10));
  const storageKey = `exports/${workspaceId}/${run.run}/events_${from}_${to}.${exportEndings[row.format]}`;
  await checkFileLater(db, { workspaceId, key: storageKey, ownerId: exportId }, now());
  await storage.putFile(storageKey, path, file.sha256);
  const at = now();
  const expiresAt = new Date(at.getTime() + exportKeptMs);
  if (!(await succeed(db, run, { file, storageKey, at, expiresAt }))) {
    await storage.delete(storageKey);
    return false;
  }
  const seconds = secondsSince(row.created_at, at);
  countExport({ outcome: "succeeded", rows: file.rows, seconds });
  log.info({ workspaceId, exportId, format: row.format, ...file, seconds }, "an export is ready");
  return true;
}

function secondsSince(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / 1000;
}

/** Longer than any run lasts, in milliseconds. */
const leftoverMs = 24 * 60 * 60 * 1000;

/** Deletes what killed processes have left in the folder. */
async function deleteLeftovers({ folder, now }: ExportDeps): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && now().getTime() - found.mtimeMs > leftoverMs) await rm(path, { force: true });
  }
}
