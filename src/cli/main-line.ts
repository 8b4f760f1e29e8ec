import type { Group } from "./operations/groups.ts";
import { closest } from "./operations/names.ts";
import type { Terminal } from "./operations/run-operation.ts";
import { exitCodes, printable, type Refusal, RefusedError, UsageError } from "./outcome.ts";
import { clientCommands, type OwnCommand, operatorCommands, ownCommandOf } from "./own-commands.ts";

/** Runs a command line, without the program's name, and returns its exit code. */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await dispatch(args, terminal);
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof RefusedError) {
      terminal.report(await refusalText(error.refusal, args));
      return error.refusal.exitCode;
    }
    // An error of the configuration has several lines.
    const lines = (error instanceof Error ? error.message : String(error)).split("\n");
    terminal.report(`signpost: ${lines.map(printable).join("\n")}`);
    if (!(error instanceof UsageError)) return exitCodes.other;
    terminal.report(`Run "${["signpost", error.help, "--help"].filter(Boolean).join(" ")}" for help.`);
    return exitCodes.usage;
  }
}

/** Each part is loaded on demand, because every command pays for what it loads. */
async function dispatch(given: readonly string[], terminal: Terminal): Promise<void> {
  const args = given[0] === "help" ? [...given.slice(1), "--help"] : given;
  const [first, second] = args;
  const wantsHelp = args.includes("--help") || args.includes("-h");
  const operator = ownCommandOf(operatorCommands, args);
  const client = ownCommandOf(clientCommands, args);
  if (first === undefined || first.startsWith("-")) return await showMainHelp(args, terminal);
  if ((operator ?? client) !== undefined && wantsHelp) {
    const { usage, description } = operator ?? client ?? { usage: "", description: "" };
    terminal.write(`usage: signpost ${usage}\n\n${description}\n${await furtherHelp(client)}`);
  } else if (operator !== undefined) {
    await runOperator(operator.name, args.slice(operator.name.split(" ").length), terminal);
  } else if (first === "login") {
    const { login } = await import("./login.ts");
    terminal.write(`${await login(args.slice(1), terminal.env)}\n`);
  } else if (client?.name === "links import") {
    const { importLinks } = await import("./import/import-links.ts");
    await importLinks(args.slice(2), terminal);
  } else if (client?.name === "webhooks listen") {
    const { listenToWebhooks } = await import("./listen-webhooks.ts");
    const ending = new AbortController();
    process.once("SIGINT", () => ending.abort());
    await listenToWebhooks(args.slice(2), terminal, ending.signal);
  } else if (first === "completion") {
    const { completionScript } = await import("./completion.ts");
    terminal.write(completionScript(second));
  } else if (first === "complete") {
    const { candidates } = await import("./completion.ts");
    for (const word of await candidates(args.slice(2), terminal.env)) terminal.write(`${word}\n`);
  } else await runInGroup(args, terminal);
}

async function furtherHelp(command: OwnCommand | undefined): Promise<string> {
  if (command?.name !== "links import") return "";
  const { importHelp } = await import("./import/import-help.ts");
  return `\n${importHelp()}`;
}

async function runOperator(name: string, args: readonly string[], terminal: Terminal): Promise<void> {
  if (name === "serve") {
    // main.ts reads the environment itself, after it has switched Node's compile cache on.
    await import("../main.ts");
    return;
  }
  const { operate } = await import("./operator-commands.ts");
  terminal.write(`${await operate(name, args, terminal.env)}\n`);
}

async function runInGroup(args: readonly string[], terminal: Terminal): Promise<void> {
  const [word = "", commandWord, ...rest] = args;
  const { findCommand, findGroupName, findGroupNameByCommand, groupNames, loadGroup } = await import(
    "./operations/groups.ts"
  );
  const name = (await findGroupName(word)) ?? (await findGroupNameByCommand(word, commandWord ?? ""));
  if (name === undefined) {
    const own = [...operatorCommands, ...clientCommands].map((each) => each.name);
    throw new UsageError(`there is no command "${word}"${hint(word, [...(await groupNames()), ...own])}`);
  }
  const group = await loadGroup(name);
  if (commandWord === undefined || commandWord === "--help" || commandWord === "-h")
    return await showGroupHelp(group, terminal);
  const command = findCommand(group, commandWord);
  if (command === undefined) {
    const names = group.commands.map((each) => each.name);
    throw new UsageError(`${name} has no command "${commandWord}"${hint(commandWord, names)}`, name);
  }
  const { runOperation } = await import("./operations/run-operation.ts");
  if (await runOperation(command, rest, terminal)) return;
  const { commandHelp } = await import("./help.ts");
  const { readDescriptions } = await import("./operations/descriptions.ts");
  const { watchOf } = await import("./operations/watch.ts");
  const isWatched = (await watchOf(command)) !== undefined;
  terminal.write(commandHelp(command, await readDescriptions(), terminal.width, isWatched));
}

async function showMainHelp(args: readonly string[], terminal: Terminal): Promise<void> {
  const [first] = args;
  if (first !== undefined && first !== "--help" && first !== "-h")
    throw new UsageError(`put the command before flags such as ${first}`);
  const { groupNames, loadGroup } = await import("./operations/groups.ts");
  const { mainHelp } = await import("./help.ts");
  const { readDescriptions } = await import("./operations/descriptions.ts");
  const groups = await Promise.all((await groupNames()).map(loadGroup));
  terminal.write(mainHelp(groups, await readDescriptions(), terminal.width));
}

async function showGroupHelp(group: Group, terminal: Terminal): Promise<void> {
  const { groupHelp } = await import("./help.ts");
  const { readDescriptions } = await import("./operations/descriptions.ts");
  terminal.write(groupHelp(group, await readDescriptions(), terminal.width));
}

function hint(word: string, candidates: readonly string[]): string {
  const meant = closest(word, candidates);
  return meant === undefined ? "" : `; did you mean "${meant}"?`;
}

/** The error output of a refusal: reason and message, each bad field by its flag, the request id. */
async function refusalText(refusal: Refusal, args: readonly string[]): Promise<string> {
  const { reason, message, fields, facts, requestId, exitCode } = refusal;
  const lines = [`signpost: ${reason}: ${message}`];
  for (const { field, description } of fields)
    lines.push(`  ${await nameOfField(field, args)} ${description}`);
  for (const [name, value] of Object.entries(facts)) lines.push(`  ${name}: ${value}`);
  if (requestId !== undefined) lines.push(`  request id: ${requestId}`);
  if (reason === "UNAUTHENTICATED" && exitCode === exitCodes.access)
    lines.push(`  "signpost login" keeps a token, SIGNPOST_TOKEN names one`);
  return lines.map(printable).join("\n");
}

/** The flag that fills a field, or its place on the command line, or else the field's own path. */
async function nameOfField(
  field: string,
  [groupWord = "", commandWord = ""]: readonly string[],
): Promise<string> {
  const { findCommand, findGroupName, loadGroup } = await import("./operations/groups.ts");
  const { findFlagOfPath } = await import("./operations/flags.ts");
  const name = await findGroupName(groupWord);
  const command = name === undefined ? undefined : findCommand(await loadGroup(name), commandWord);
  const flag = command === undefined ? undefined : findFlagOfPath(command.method.input, field);
  if (flag === undefined) return field;
  const isInPath = command?.binding.variables.some(({ fields }) => fields[0] === flag.field) ?? false;
  return isInPath ? `<${flag.name}>` : `--${flag.name}`;
}
