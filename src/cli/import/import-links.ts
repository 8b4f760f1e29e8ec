import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { parseArgs } from "node:util";
import { CreateLinkRequestSchema } from "../../../gen/signpost/v1/links_service_pb.js";
import { type Ask, createAsk } from "../operations/ask.ts";
import type { Terminal } from "../operations/run-operation.ts";
import { exitCodes, printable, RefusedError, UsageError } from "../outcome.ts";
import { findConnection } from "../profiles.ts";
import { createDirectoryFinder } from "./directories.ts";
import { createPortionJobs, type PortionJob } from "./portion-jobs.ts";
import { inWords, progressLine } from "./progress.ts";
import { createRowCheck } from "./row-checks.ts";
import { type ImportFile, openImport } from "./rows.ts";
import { badFieldsOf, sendRows } from "./send-rows.ts";

const options = {
  "dry-run": { type: "boolean" },
  watch: { type: "boolean" },
  "from-line": { type: "string" },
  "idempotency-key": { type: "string" },
  profile: { type: "string" },
} as const;

/**
 * Makes links of the rows of a CSV file, or with `--dry-run` only names the bad rows. Throws a UsageError or a
 * RefusedError.
 */
export async function importLinks(args: readonly string[], terminal: Terminal): Promise<void> {
  const { name, values } = parse(args);
  const ask = createAsk(await findConnection(terminal.env, values.profile));
  const file = await openImport(name === "-" ? process.stdin : createReadStream(name), {
    schema: CreateLinkRequestSchema,
    check: await createRowCheck(() => new Date()),
    findDirectory: await createDirectoryFinder(ask),
    fromLine: lineOf(values["from-line"]),
  }).catch((error: unknown) => {
    throw unreadable(name, error);
  });
  if (values["dry-run"]) return await tryRows(file, terminal);
  const size = name === "-" ? undefined : (await stat(name)).size;
  await makeLinks(file, {
    ask,
    terminal,
    size,
    waits: values.watch ?? false,
    prefix: values["idempotency-key"],
  });
}

function parse(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [name, ...others] = positionals;
    if (name === undefined) throw new Error("name a CSV file, or - for the standard input");
    if (others.length > 0) throw new Error("only one file can be imported at a time");
    return { name, values };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), "links import");
  }
}

function lineOf(text = "1"): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new UsageError("--from-line must be the number of a line", "links import");
  return Number(text);
}

function unreadable(name: string, error: unknown): unknown {
  const isOfFile = error instanceof Error && "code" in error && "syscall" in error;
  return isOfFile ? new UsageError(`${name} cannot be read: ${error.message}`, "links import") : error;
}

/** Names every bad row, and makes nothing. */
async function tryRows({ rows }: ImportFile, { write, report }: Terminal): Promise<void> {
  let [good, bad] = [0, 0];
  for await (const row of rows) {
    if (row.faults.length === 0) good += 1;
    else bad += 1;
    for (const { field, description } of badFieldsOf(row)) write(`${printable(`${field} ${description}`)}\n`);
  }
  report(`${inWords(good, "row")} of ${(good + bad).toLocaleString("en")} can be links; nothing was made.`);
  report("Whether short links are free, and other records exist, is checked when the links are made.");
  if (bad === 0) return;
  throw new RefusedError({
    reason: "BAD_ROWS",
    message: bad === 1 ? "a row is wrong" : `${inWords(bad, "row")} are wrong`,
    exitCode: exitCodes.usage,
    fields: [],
    facts: {},
    requestId: undefined,
  });
}

interface Making {
  readonly ask: Ask;
  readonly terminal: Terminal;
  /** The size of the file in bytes. */
  readonly size: number | undefined;
  readonly waits: boolean;
  readonly prefix: string | undefined;
}

async function makeLinks(file: ImportFile, making: Making): Promise<void> {
  const { ask, terminal, size, waits, prefix = "import" } = making;
  const count = { made: 0, before: 0, jobs: 0, running: 0 };
  const show = (bytes: number) =>
    terminal.redraw?.(
      progressLine({ made: count.made, jobs: count.running, part: size && Math.min(1, bytes / size) }),
    );
  const stop = await sendRows(file, await createPortionJobs(ask, prefix), {
    waits,
    listener: {
      started(job) {
        count.jobs += 1;
        if (waits) count.running += 1;
        else terminal.write(`${jobLine(job)}\n`);
      },
      finished({ portion, isOld }) {
        count.running -= 1;
        count.made += portion.length;
        if (isOld) count.before += portion.length;
        show(portion.at(-1)?.bytes ?? 0);
      },
    },
  });
  terminal.redraw?.("");
  const before =
    count.before === 0 ? "" : `, ${count.before.toLocaleString("en")} of them by an earlier import`;
  if (waits)
    terminal.report(`${inWords(count.made, "link")} made by ${inWords(count.jobs, "job")}${before}.`);
  else terminal.report(`${inWords(count.jobs, "job")} queued. The same command with --watch waits for them.`);
  if (stop === undefined) return;
  terminal.report(goingOn(stop.line));
  throw stop.error;
}

function jobLine({ portion, answer, isOld }: PortionJob): string {
  const lines = `lines ${portion[0].line} to ${portion.at(-1)?.line}`;
  return `${lines}: job ${printable(String(answer.json.id))}${isOld ? ", queued by an earlier import" : ""}`;
}

function goingOn(line: number | undefined): string {
  const where = line === undefined ? "" : `, or with --from-line ${line} only what is left`;
  return (
    `The import has stopped. Mend what is wrong, without moving rows, and give the same command within 24 hours${where}: ` +
    "it makes no link twice."
  );
}
