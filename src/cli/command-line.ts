import {
  isJsonObject,
  type JsonObject,
  jsonOfText,
  merge,
  ownProperty,
  type ReadFile,
} from "./operations/flag-values.ts";
import { findFlag, flagName, flagsOf, isBoolean, isRequired } from "./operations/flags.ts";
import type { Command } from "./operations/groups.ts";
import { closest } from "./operations/names.ts";
import { UsageError } from "./outcome.ts";

/** The flags of every operation. `value` names the flag's value; it is empty for flags without one. */
export const settingFlags = [
  { name: "json", value: "", description: "print the service's answer unchanged as JSON" },
  { name: "csv", value: "", description: "print the rows of the answer as CSV" },
  { name: "chart", value: "", description: "draw the numbers instead of a table" },
  { name: "all", value: "", description: "follow all pages of a list" },
  { name: "watch", value: "", description: "wait until the job is finished" },
  {
    name: "output",
    value: "<file>",
    description: "write the file of the finished job, or the picture, to a file",
  },
  { name: "open", value: "", description: "show the page or the picture in the browser" },
  {
    name: "body",
    value: "<file>",
    description: "take the request from a JSON file, or from standard input with -",
  },
  {
    name: "idempotency-key",
    value: "<key>",
    description: "the key that makes a repeated call take effect once; random when absent",
  },
  { name: "profile", value: "<name>", description: "the service and token that login kept under this name" },
  { name: "help", value: "", description: "show this" },
] as const;

export type SettingName = (typeof settingFlags)[number]["name"];

/** The given settings; a flag without a value has an empty text. */
export type Settings = { readonly [name in SettingName]?: string };

export interface CommandLine {
  readonly settings: Settings;
  /** The request made of positionals and flags, without the file of `--body`. */
  readonly request: JsonObject;
}

/** Reads the words after `signpost <group> <command>`. Throws a UsageError that names the flag. */
export function readCommandLine(command: Command, args: readonly string[], readFile: ReadFile): CommandLine {
  const settings: { [name in SettingName]?: string } = {};
  const positionals: string[] = [];
  let request: JsonObject = {};
  const rest = [...args];
  for (let token = rest.shift(); token !== undefined; token = rest.shift()) {
    if (token === "--") {
      positionals.push(...rest.splice(0));
    } else if (token === "-h") {
      settings.help = "";
    } else if (!token.startsWith("--")) {
      positionals.push(token);
    } else {
      const { name, value } = splitFlag(token);
      const setting = settingFlags.find((each) => each.name === name);
      if (setting === undefined) request = withField(command, request, { name, value, rest, readFile });
      else settings[setting.name] = setting.value === "" ? alone(name, value) : following(name, value, rest);
    }
  }
  return { settings, request: withPositionals(command, request, positionals) };
}

interface Given {
  readonly name: string;
  /** The text after an equals sign. */
  readonly value: string | undefined;
  /** The following words; a value is taken from them. */
  readonly rest: string[];
  readonly readFile: ReadFile;
}

function withField(
  command: Command,
  request: JsonObject,
  { name, value, rest, readFile }: Given,
): JsonObject {
  const { input } = command.method;
  const flag = findFlag(input, name);
  const negated = flag === undefined && name.startsWith("no-") ? findFlag(input, name.slice(3)) : undefined;
  if (negated !== undefined && isBoolean(negated.field) && value === undefined)
    return setField(request, negated, false);
  if (flag === undefined) throw unknownFlag(command, name);
  if (isBoolean(flag.field) && value === undefined) return setField(request, flag, true);
  const text = following(name, value, rest);
  try {
    const json = flag.keys.length > 0 ? text : jsonOfText(flag.field, text, readFile);
    return setField(request, flag, json);
  } catch (error) {
    throw new UsageError(
      `--${name} ${error instanceof Error ? error.message : String(error)}`,
      helpOf(command),
    );
  }
}

function setField(
  request: JsonObject,
  { path, keys }: NonNullable<ReturnType<typeof findFlag>>,
  json: unknown,
): JsonObject {
  const names = [...path.map(({ jsonName }) => jsonName), ...keys];
  const given = names.reduceRight<unknown>((value, name) => ownProperty(name, value), json);
  const merged = merge(request, given, true);
  return isJsonObject(merged) ? merged : request;
}

function withPositionals(command: Command, request: JsonObject, positionals: readonly string[]): JsonObject {
  const open = command.binding.variables.filter(({ fields }) => request[fields[0].jsonName] === undefined);
  if (positionals.length > open.length) {
    const extra = JSON.stringify(positionals[open.length]);
    throw new UsageError(`${extra} is one argument too many: give other fields by flags`, helpOf(command));
  }
  const given = { ...request };
  for (const [index, text] of positionals.entries()) {
    const fields = open[index]?.fields;
    if (fields === undefined) continue;
    try {
      // A text of the path is a single value and never names a file.
      given[fields[0].jsonName] = jsonOfText(fields[0], text, () => new Uint8Array());
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new UsageError(`<${flagName(fields)}> ${why}`, helpOf(command));
    }
  }
  return given;
}

/** Throws a UsageError that names every missing flag of a required field. */
export function checkRequired(command: Command, request: JsonObject): void {
  const inPath = new Set(command.binding.variables.map(({ fields }) => fields[0]));
  const missing = command.method.input.fields
    .filter((field) => isRequired(field) && isMissing(request[field.jsonName]))
    .map((field) => (inPath.has(field) ? `<${flagName([field])}>` : `--${flagName([field])}`));
  if (missing.length === 0) return;
  throw new UsageError(
    `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`,
    helpOf(command),
  );
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function splitFlag(token: string): { name: string; value: string | undefined } {
  const equals = token.indexOf("=");
  if (equals === -1) return { name: token.slice(2), value: undefined };
  return { name: token.slice(2, equals), value: token.slice(equals + 1) };
}

function alone(name: string, value: string | undefined): string {
  if (value !== undefined) throw new UsageError(`--${name} takes no value`);
  return "";
}

function following(name: string, value: string | undefined, rest: string[]): string {
  if (value !== undefined) return value;
  const next = rest.shift();
  if (next === undefined) throw new UsageError(`--${name} needs a value`);
  if (next.startsWith("--"))
    throw new UsageError(
      `--${name} needs a value; one that begins with dashes is given as --${name}=${next}`,
    );
  return next;
}

function unknownFlag(command: Command, name: string): UsageError {
  const known = [
    ...flagsOf(command.method.input).map((flag) => flag.name),
    ...settingFlags.map((each) => each.name),
  ];
  const meant = closest(name, known);
  const hint = meant === undefined ? "" : `; did you mean --${meant}?`;
  return new UsageError(`there is no flag --${name}${hint}`, helpOf(command));
}

function helpOf({ group, name }: Command): string {
  return `${group} ${name}`;
}
