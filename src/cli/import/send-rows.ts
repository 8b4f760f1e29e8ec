import { type BadField, exitCodes, RefusedError } from "../outcome.ts";
import type { Columns } from "./columns.ts";
import type { Portion, PortionJob, PortionJobs } from "./portion-jobs.ts";
import type { ImportFile, ImportRow } from "./rows.ts";

/** How many links a job makes. Every service takes as many, whatever its configuration. */
const rowsOfJob = 250;

/** How many jobs run or wait at a time while the command waits for their ends. */
const jobsMax = 4;

/** What an import tells while it runs. */
export interface Listener {
  /** A job is queued, or was found. */
  started(job: PortionJob): void;
  /** A job has made its links. */
  finished(job: PortionJob): void;
}

/** Why an import has stopped, and the line of the first row of which it made no link, if it is known. */
export interface Stop {
  readonly error: unknown;
  readonly line: number | undefined;
}

/**
 * Makes links of all rows, a portion by each job. With `waits` it also waits for the jobs, of which only a few run at a
 * time. Stops at the first portion with a bad row or a failed job, once the jobs that run have ended.
 */
export async function sendRows(
  { rows, columns }: ImportFile,
  jobs: PortionJobs,
  { waits, listener }: { readonly waits: boolean; readonly listener: Listener },
): Promise<Stop | undefined> {
  const running: { readonly job: PortionJob; readonly end: Promise<void> }[] = [];
  let stop: Stop | undefined;
  const halt = (portion: Portion, error: unknown) => {
    stop ??= { error: inRows(error, portion, columns), line: portion[0].line };
  };
  const finishFirst = async () => {
    const first = running.shift();
    await first?.end.then(
      () => listener.finished(first.job),
      (error: unknown) => halt(first.job.portion, error),
    );
  };
  try {
    for await (const portion of portionsOf(rows)) {
      if (running.length >= jobsMax) await finishFirst();
      if (stop !== undefined) break;
      const job = await startChecked(jobs, portion).catch((error: unknown) => halt(portion, error));
      if (!job) break;
      listener.started(job);
      if (!waits) continue;
      const end = jobs.finish(job);
      // The end is awaited later. Until then nothing else takes its error.
      end.catch(() => {});
      running.push({ job, end });
    }
  } catch (error) {
    stop ??= { error, line: undefined };
  }
  while (running.length > 0) await finishFirst();
  return stop;
}

async function* portionsOf(rows: AsyncIterable<ImportRow>): AsyncGenerator<Portion> {
  let portion: ImportRow[] = [];
  for await (const row of rows) {
    portion.push(row);
    if (portion.length < rowsOfJob) continue;
    // It has rows.
    yield portion as unknown as Portion;
    portion = [];
  }
  if (portion.length > 0) yield portion as unknown as Portion;
}

/** Queues the job of a portion whose rows are all good. */
async function startChecked(jobs: PortionJobs, portion: Portion): Promise<PortionJob> {
  const bad = portion.flatMap(badFieldsOf);
  if (bad.length === 0) return jobs.start(portion);
  const rows = portion.filter(({ faults }) => faults.length > 0).length;
  throw new RefusedError({
    reason: "BAD_ROWS",
    message: rows === 1 ? "a row is wrong" : `${rows} rows are wrong`,
    exitCode: exitCodes.usage,
    fields: bad,
    facts: {},
    requestId: undefined,
  });
}

/** The faults of a row, each with its line and column. */
export function badFieldsOf({ line, faults }: ImportRow): BadField[] {
  return faults.map(({ column, description }) => ({ field: placeOf(line, column), description }));
}

function placeOf(line: number, column: string): string {
  return column === "" ? `line ${line}` : `line ${line}, column ${column}:`;
}

/** Names lines and columns in a refusal that names the links of a request. */
function inRows(error: unknown, portion: Portion, columns: Columns): unknown {
  if (!(error instanceof RefusedError)) return error;
  const inRow = (text: string) =>
    text.replace(/^links\[(\d+)\](?:\.([^\s:]+))?:?/, (whole, index: string, field?: string) => {
      const row = portion[Number(index)];
      if (row === undefined) return whole;
      return placeOf(row.line, field === undefined ? "" : columns.columnOf(field));
    });
  const { refusal } = error;
  return new RefusedError({
    ...refusal,
    message: inRow(refusal.message),
    fields: refusal.fields.map(({ field, description }) => ({ field: inRow(field), description })),
  });
}
