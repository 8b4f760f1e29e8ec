import { plotOf } from "./chart/plot.ts";
import { settingFlags } from "./command-line.ts";
import { type Descriptions, firstSentence } from "./operations/descriptions.ts";
import { hasFile, isFile } from "./operations/files.ts";
import { type Flag, flagName, flagsOf, isRequired, placeholder } from "./operations/flags.ts";
import type { Command, Group } from "./operations/groups.ts";
import { hasCsv, isPaged } from "./operations/paging.ts";
import { exitCodeMeanings } from "./outcome.ts";
import { clientCommands, type OwnCommand, operatorCommands } from "./own-commands.ts";
import { pairLines } from "./table.ts";

/** The text of `signpost --help`. */
export function mainHelp(groups: readonly Group[], descriptions: Descriptions, width: number): string {
  const own = (commands: readonly OwnCommand[]) =>
    pairs(
      commands.map(({ usage, description }) => [usage, description]),
      width,
    );
  return page([
    "usage: signpost <group> <command> [<field>…] [--flag value…]",
    ["Groups; signpost <group> --help shows the commands of one:"],
    pairs(
      groups.map(({ name, service }) => [name, firstSentence(descriptions.group(service.name))]),
      width,
    ),
    ["The command line:"],
    own(clientCommands),
    ["On the service's own database, with its environment (DATA_DIR, DATABASE_URL, SECRET and the rest):"],
    own(operatorCommands),
    ["Flags of every command of a group:"],
    pairs(
      settingFlags.map(({ name, value, description }) => [`--${name} ${value}`.trimEnd(), description]),
      width,
    ),
    ["Exit codes:"],
    pairs(
      exitCodeMeanings.map(([code, meaning]) => [String(code), meaning]),
      width,
    ),
  ]);
}

/** The text of `signpost <group> --help`. */
export function groupHelp(group: Group, descriptions: Descriptions, width: number): string {
  const ofGroup = ({ name }: OwnCommand) => name.startsWith(`${group.name} `);
  const own = operatorCommands.filter(ofGroup);
  return page([
    `usage: signpost ${group.name} <command>`,
    wrap(descriptions.group(group.service.name), width, ""),
    pairs(
      [
        ...group.commands.map((command): [string, string] => [
          [command.name, ...pathWords(command)].join(" "),
          descriptions.summary(command),
        ]),
        ...clientCommands
          .filter(ofGroup)
          .map(({ usage, description }): [string, string] => [
            usage.slice(group.name.length + 1),
            description,
          ]),
      ],
      width,
    ),
    ...(own.length === 0
      ? []
      : [
          ["On the service's own database:"],
          pairs(
            own.map(({ usage, description }) => [usage.slice(group.name.length + 1), description]),
            width,
          ),
        ]),
  ]);
}

/**
 * The text of `signpost <group> <command> --help`. It loads further descriptors to see whether the operation can be
 * watched.
 */
export function commandHelp(
  command: Command,
  descriptions: Descriptions,
  width: number,
  isWatched: boolean,
): string {
  const { binding, group, name, method } = command;
  const inPath = new Set(binding.variables.map(({ fields }) => flagName(fields)));
  const flags = flagsOf(method.input);
  const fields = flags.filter((flag) => inPath.has(flag.name));
  const others = flags.filter((flag) => !inPath.has(flag.name));
  const required = others.filter(isNeeded).map((flag) => `--${flag.name} ${placeholder(flag)}`.trimEnd());
  const usage = ["usage: signpost", group, name, ...pathWords(command), ...required];
  if (required.length < others.length) usage.push("[--flag value…]");
  const describe = (flag: Flag) =>
    `${isNeeded(flag) && !inPath.has(flag.name) ? "Required. " : ""}${descriptions.flag(command, flag)}`;
  return page([
    usage.join(" "),
    wrap(
      [descriptions.summary(command), descriptions.details(command)].filter(Boolean).join(".\n"),
      width,
      "",
    ),
    pairs(
      fields.map((flag) => [`<${flag.name}>`, describe(flag)]),
      width,
    ),
    pairs(
      others.map((flag) => [`--${flag.name} ${placeholder(flag)}`.trimEnd(), describe(flag)]),
      width,
    ),
    [`${binding.httpMethod} ${binding.template.text}`],
    pairs(settingsOf(command, isWatched), width),
  ]);
}

function settingsOf(command: Command, isWatched: boolean): [string, string][] {
  const unfit = new Set<string>([
    ...(isPaged(command) ? [] : ["all"]),
    ...(hasCsv(command) ? [] : ["csv"]),
    ...(plotOf(command) === undefined ? ["chart"] : []),
    ...(isWatched ? [] : ["watch"]),
    ...(hasFile(command) ? [] : ["output"]),
    ...(isFile(command) ? [] : ["open"]),
  ]);
  return settingFlags
    .filter(({ name }) => !unfit.has(name))
    .map(({ name, value, description }) => [`--${name} ${value}`.trimEnd(), description]);
}

function isNeeded({ path }: Flag): boolean {
  return path.every(isRequired);
}

function pathWords({ binding }: Command): string[] {
  return binding.variables.map(({ fields }) => `<${flagName(fields)}>`);
}

/** Joins paragraphs with an empty line between them; empty ones are left out. */
function page(parts: readonly (string | readonly string[])[]): string {
  const texts = parts.map((part) => (typeof part === "string" ? part : part.join("\n")));
  return `${texts.filter((text) => text !== "").join("\n\n")}\n`;
}

const columnMax = 34;

/** Lays out names and their descriptions side by side, a long name on a line of its own. */
function pairs(all: readonly (readonly [name: string, text: string])[], width: number): string[] {
  const column = Math.min(columnMax, Math.max(0, ...all.map(([name]) => name.length)));
  const indent = " ".repeat(column + 4);
  return all.flatMap(([name, text]) => {
    const [first = "", ...rest] = wrap(text, width, indent);
    if (name.length > column) return [`  ${name}`, ...(text === "" ? [] : [first, ...rest])];
    return [...pairLines([[name.padEnd(column), first.trimStart()]], "  "), ...rest];
  });
}

/** Wraps text in lines of at most the width, each after an indent. */
function wrap(text: string, width: number, indent: string): string[] {
  return text.split("\n").flatMap((paragraph) => {
    const lines: string[] = [];
    let line = indent;
    for (const word of paragraph.split(/\s+/)) {
      const isFirst = line === indent;
      if (!isFirst && line.length + 1 + word.length > width) {
        lines.push(line);
        line = `${indent}${word}`;
      } else line += isFirst ? word : ` ${word}`;
    }
    return [...lines, line.trimEnd()];
  });
}
