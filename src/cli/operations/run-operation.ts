import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { drawChart } from "../chart/draw-chart.ts";
import { inkFor } from "../chart/ink.ts";
import { plotOf } from "../chart/plot.ts";
import { checkRequired, readCommandLine, type Settings } from "../command-line.ts";
import { UsageError } from "../outcome.ts";
import { type EnvironmentVariables, findConnection } from "../profiles.ts";
import { createShower } from "../show.ts";
import { type Ask, createAsk, type ServiceAnswer } from "./ask.ts";
import { download } from "./download.ts";
import { hasFile, isFile } from "./files.ts";
import { isJsonObject, type JsonObject, merge } from "./flag-values.ts";
import { answerSchema, type Command } from "./groups.ts";
import { openInBrowser } from "./open-in-browser.ts";
import {
  csvField,
  csvText,
  hasCsv,
  isPaged,
  joinPages,
  nextTokenOf,
  pageSizeMax,
  withoutHeader,
} from "./paging.ts";
import { restCall } from "./request.ts";
import { checkOutcome, type Watch, waitUntilFinished, watchOf } from "./watch.ts";

/** The surroundings of a command: its environment, its width and its outputs. */
export interface Terminal {
  readonly env: EnvironmentVariables;
  /** Characters per line. */
  readonly width: number;
  /** Prints results unchanged. */
  readonly write: (result: string | Uint8Array) => void;
  /** Whether somebody watches the results, so that they may have colors. */
  readonly isWatched?: boolean;
  /** Prints messages that are no results. */
  readonly report: (text: string) => void;
  /** Shows one line in place of the one that it showed before; absent where nobody watches. */
  readonly redraw?: ((text: string) => void) | undefined;
}

/**
 * Runs one operation. Throws a UsageError or a RefusedError. Returns false, without running it, when `--help` was
 * given.
 */
export async function runOperation(
  command: Command,
  args: readonly string[],
  terminal: Terminal,
): Promise<boolean> {
  const line = readCommandLine(command, args, readInput);
  const { settings } = line;
  if (settings.help !== undefined) return false;
  const waits = (settings.watch ?? settings.output) !== undefined && !isFile(command);
  const watch = waits ? await watchOf(command) : undefined;
  checkSettings(command, settings, watch);
  const request = withFile(command, settings.body, line.request);
  checkRequired(command, request);
  const connection = await findConnection(terminal.env, settings.profile);
  const ask = createAsk(connection);
  const run = { command, request, settings, ask, terminal };
  if (isFile(command)) await printFile(run, connection.baseUrl);
  else if (settings.chart !== undefined) await printChart(run);
  else if (settings.csv !== undefined) await printCsv(run);
  else if (watch !== undefined) await printWatched(run, watch);
  else await printPages(run);
  return true;
}

interface Run {
  readonly command: Command;
  readonly request: JsonObject;
  readonly settings: Settings;
  readonly ask: Ask;
  readonly terminal: Terminal;
}

function checkSettings(command: Command, settings: Settings, watch: Watch | undefined): void {
  const help = `${command.group} ${command.name}`;
  if (settings.csv !== undefined && settings.json !== undefined)
    throw new UsageError("--json and --csv exclude each other", help);
  if (settings.chart !== undefined && (settings.json ?? settings.csv) !== undefined)
    throw new UsageError("--chart excludes --json and --csv", help);
  if (settings.chart !== undefined && plotOf(command) === undefined)
    throw new UsageError("--chart: this operation answers no rows of numbers", help);
  if (settings.csv !== undefined && !hasCsv(command))
    throw new UsageError("--csv: this operation has no CSV", help);
  if (settings.all !== undefined && !isPaged(command))
    throw new UsageError("--all: this operation has no pages", help);
  if (settings.open !== undefined && !isFile(command))
    throw new UsageError("--open: this operation answers no page and no picture", help);
  if (settings.output !== undefined && !hasFile(command))
    throw new UsageError("--output: this operation has no file", help);
  if (settings.watch !== undefined && watch === undefined)
    throw new UsageError("--watch: this operation is already done when it answers", help);
}

/** Reads the file of a flag; `-` is standard input. */
function readInput(name: string): Uint8Array {
  try {
    return readFileSync(name === "-" ? 0 : name);
  } catch (error) {
    throw new UsageError(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * The request of `--body`, with the flags' request laid over it. The file holds the request, or the list that alone is the
 * body over REST.
 */
function withFile(
  { group, name, binding: { body } }: Command,
  file: string | undefined,
  request: JsonObject,
): JsonObject {
  if (file === undefined) return request;
  const help = `${group} ${name}`;
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(readInput(file)).toString("utf8"));
  } catch (error) {
    const why = error instanceof SyntaxError ? "is not JSON" : error instanceof Error ? error.message : "";
    throw new UsageError(`--body ${why}`, help);
  }
  if (body.kind === "field" && Array.isArray(json)) json = { [body.field.jsonName]: json };
  const merged = merge(json, request, false);
  if (isJsonObject(json) && isJsonObject(merged)) return merged;
  throw new UsageError("--body must be a JSON object", help);
}

/** Calls once. Writing calls carry an idempotency key, so that a repeated call takes effect once. */
function askOnce(
  { command, settings, ask }: Run,
  request: JsonObject,
  accept?: string,
): Promise<ServiceAnswer> {
  const { binding, method } = command;
  const isReading = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const key = settings["idempotency-key"] ?? (isReading ? undefined : randomUUID());
  return ask({ ...restCall(binding, request), ...(accept !== undefined && { accept }) }, key);
}

/** Asks for one page, or with `--all` for all pages. */
async function* pages(run: Run): AsyncGenerator<ServiceAnswer> {
  const isAll = run.settings.all !== undefined;
  let request = isAll ? { pageSize: pageSizeMax, ...run.request } : run.request;
  for (;;) {
    const answer = await askOnce(run, request);
    yield answer;
    const next = nextTokenOf(answer.json);
    if (!isAll || next === undefined) return;
    // A token that leads to itself would loop forever.
    if (next === request.pageToken) throw new Error("the service answers with the same page again");
    request = { ...request, pageToken: next };
  }
}

async function printPages(run: Run): Promise<void> {
  const { command, settings, terminal } = run;
  const schema = answerSchema(command);
  const shower = createShower(terminal.width);
  let joined: unknown;
  for await (const { text, json } of pages(run)) {
    if (settings.json === undefined) {
      for (const line of shower.page({ schema, json })) terminal.write(`${line}\n`);
    } else if (settings.all === undefined) terminal.write(`${text}\n`);
    else joined = joined === undefined ? json : joinPages(joined, json);
  }
  if (joined !== undefined) terminal.write(`${JSON.stringify(joined)}\n`);
  if (settings.json === undefined) for (const line of shower.end()) terminal.write(`${line}\n`);
}

async function printFile(run: Run, baseUrl: string): Promise<void> {
  const { bytes, contentType } = await askOnce(run, run.request);
  const { output, open } = run.settings;
  const { env, report, write } = run.terminal;
  if (output !== undefined) await writeFile(output, bytes);
  if (open !== undefined) await openInBrowser({ bytes, contentType, baseUrl }, env, report);
  else if (output === undefined) write(bytes);
}

async function printChart(run: Run): Promise<void> {
  const { command, terminal } = run;
  const { json } = await askOnce(run, run.request);
  const plot = plotOf(command);
  const ink = inkFor(terminal.env, terminal.isWatched === true);
  const lines = plot === undefined ? [] : drawChart(plot, json, terminal.width, ink);
  for (const line of lines) terminal.write(`${line}\n`);
}

async function printCsv(run: Run): Promise<void> {
  const csv = csvField(run.command.method.input);
  if (csv === undefined) {
    run.terminal.write((await askOnce(run, run.request, "text/csv")).text);
    return;
  }
  const request = { ...run.request, [csv.field.jsonName]: csv.value };
  let isFirst = true;
  for await (const { json } of pages({ ...run, request })) {
    const text = csvText(json);
    run.terminal.write(isFirst ? text : withoutHeader(text));
    isFirst = false;
  }
}

async function printWatched(run: Run, watch: Watch): Promise<void> {
  const { settings, ask, terminal } = run;
  const started = await askOnce(run, run.request);
  const answer = await waitUntilFinished(ask, watch, started, terminal.report);
  if (settings.json === undefined) {
    for (const line of createShower(terminal.width).page({ schema: watch.schema, json: answer.json }))
      terminal.write(`${line}\n`);
  } else terminal.write(`${answer.text}\n`);
  checkOutcome(answer);
  if (settings.output !== undefined) await download(answer, settings.output);
}
