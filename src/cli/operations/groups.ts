import { readdir } from "node:fs/promises";
import type { DescFile, DescMessage, DescMethodUnary, DescService } from "@bufbuild/protobuf";
import { commandNames, groupName, singular, splitWords } from "../../model/operation-names.ts";
import { type Binding, bindingsOf } from "../../rest/binding.ts";

/** One operation as a command: `signpost <group> <name>`. */
export interface Command {
  readonly group: string;
  readonly name: string;
  readonly method: DescMethodUnary;
  readonly binding: Binding;
}

/** All operations of one service. */
export interface Group {
  readonly name: string;
  readonly service: DescService;
  readonly commands: readonly Command[];
}

const folder = new URL("../../../gen/signpost/v1/", import.meta.url);
const fileEnd = "_service_pb.js";

/** The names of all groups, in alphabetical order. It lists a folder and loads no descriptor. */
export async function groupNames(): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => file.endsWith(fileEnd))
    .map((file) => file.slice(0, -fileEnd.length).replaceAll("_", "-"))
    .sort();
}

/** The group that a word names, in singular or plural (`link` for `links`); undefined when there is none. */
export async function findGroupName(word: string): Promise<string | undefined> {
  const names = await groupNames();
  return names.includes(word) ? word : names.find((name) => singular(name) === singular(word));
}

/**
 * The group whose name begins with a word and that alone has a command: `analytics breakdown` is in the group
 * `analytics-data`. Undefined when there is none, or more than one.
 */
export async function findGroupNameByCommand(word: string, commandWord: string): Promise<string | undefined> {
  const names = (await groupNames()).filter((name) => name.startsWith(`${word}-`));
  const groups = await Promise.all(names.map(loadGroup));
  const [found, ...others] = groups.filter((group) => findCommand(group, commandWord) !== undefined);
  return others.length === 0 ? found?.name : undefined;
}

/** Loads the descriptors of one group and of the files it refers to. Throws when there is no such group. */
export async function loadGroup(name: string): Promise<Group> {
  const module: Record<string, unknown> = await import(
    new URL(`${name.replaceAll("-", "_")}${fileEnd}`, folder).href
  );
  const service = fileOf(module).services.find((each) => groupName(each.name) === name);
  if (service === undefined) throw new Error(`${name.replaceAll("-", "_")}${fileEnd} has another service`);
  return { name, service, commands: commandsOf(name, service) };
}

function fileOf(module: Record<string, unknown>): DescFile {
  for (const value of Object.values(module)) {
    if (typeof value === "object" && value !== null && "kind" in value && value.kind === "file")
      // The export with this form is the file's own descriptor.
      return value as unknown as DescFile;
  }
  throw new Error("a generated file exports its descriptor");
}

function commandsOf(group: string, service: DescService): Command[] {
  const unary = service.methods.flatMap((method) => {
    const [binding] = bindingsOf(method);
    return binding === undefined ? [] : [binding];
  });
  const names = commandNames(
    service.name,
    unary.map(({ method }) => method.name),
  );
  return unary.map((binding, index) => ({
    group,
    name: names[index] ?? "",
    method: binding.method,
    binding,
  }));
}

/**
 * The command that a word names in a group, by its short name, by the RPC's full name (`list-events`), or without the verb
 * that says no more than that it reads (`breakdown` for `get-breakdown`).
 */
export function findCommand({ commands }: Group, word: string): Command | undefined {
  return (
    commands.find(({ name }) => name === word) ??
    commands.find(({ method }) => splitWords(method.name).join("-") === word) ??
    commands.find(({ name }) => name === `get-${word}`)
  );
}

/** The message that an operation's answer has as its body over REST. */
export function answerSchema({ binding, method }: Command): DescMessage {
  return binding.responseField?.message ?? method.output;
}
