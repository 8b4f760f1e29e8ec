import { createRegistry, equals, fromJson, type JsonObject, type Message } from "@bufbuild/protobuf";
import { beforeAll, expect, test } from "vitest";
import { createDecoders } from "../rest/decode.ts";
import { fieldsOf } from "../wire/read-message.ts";
import { checkRequired, readCommandLine, settingFlags } from "./command-line.ts";
import { candidates } from "./completion.ts";
import { commandHelp, groupHelp } from "./help.ts";
import { type Descriptions, readDescriptions } from "./operations/descriptions.ts";
import {
  type Flag,
  flagName,
  flagsOf,
  isBoolean,
  isFreeObject,
  isRequired,
  isTimestamp,
  shortNames,
} from "./operations/flags.ts";
import { type Command, type Group, groupNames, loadGroup } from "./operations/groups.ts";
import { restCall } from "./operations/request.ts";
import { watchOf } from "./operations/watch.ts";
import { clientCommands, operatorCommands } from "./own-commands.ts";

/** How many operations the specification has; the service may have more. */
const operationCountMin = 162;

const decoderOf = createDecoders(createRegistry());
const noFile = () => new TextEncoder().encode("a file's bytes");

let groups: Group[];
let commands: Command[];
let undescribed: Descriptions;

beforeAll(async () => {
  groups = await Promise.all((await groupNames()).map(loadGroup));
  commands = groups.flatMap((group) => group.commands);
  undescribed = await readDescriptions(new URL("no-such-file.json", import.meta.url));
});

test("every operation of every service is a command", () => {
  expect(commands.length).toBeGreaterThanOrEqual(operationCountMin);
  const unary = groups.flatMap(({ service }) =>
    service.methods.filter(({ methodKind }) => methodKind === "unary"),
  );
  expect(commands).toHaveLength(unary.length);
});

test("no two commands have the same words, including the commands that are no operations", () => {
  const own = [...operatorCommands, ...clientCommands].map(({ name }) => name);
  const all = [...commands.map(({ group, name }) => `${group} ${name}`), ...own];
  expect(all.filter((words, index) => all.indexOf(words) !== index)).toEqual([]);
  expect(all.filter((words) => !/^[a-z]+(-[a-z]+)*( [a-z]+(-[a-z]+)*)?$/.test(words))).toEqual([]);
  const names = groups.map(({ name }) => name);
  expect(own.filter((name) => !name.includes(" ") && names.includes(name))).toEqual([]);
});

test("the help of every command shows its path, its fields and every flag", () => {
  for (const group of groups) {
    const whole = groupHelp(group, undescribed, 100);
    for (const command of group.commands) {
      expect(whole).toContain(`  ${command.name}`);
      const help = commandHelp(command, undescribed, 100, false);
      expect(help).toContain(`usage: signpost ${command.group} ${command.name}`);
      expect(help).toContain(`${command.binding.httpMethod} ${command.binding.template.text}`);
      const inPath = command.binding.variables.map(({ fields }) => flagName(fields));
      for (const { name } of flagsOf(command.method.input))
        expect(help).toContain(inPath.includes(name) ? `<${name}>` : `--${name}`);
    }
  }
});

test("every flag is completed, and no flag has the name of a setting", async () => {
  const settings = settingFlags.map(({ name }): string => name);
  for (const command of commands) {
    const flags = flagsOf(command.method.input).map(({ name }) => name);
    expect(flags.filter((name) => settings.includes(name))).toEqual([]);
    const offered = await candidates([command.group, command.name, "--"], {});
    expect(offered).toEqual(expect.arrayContaining(flags.map((name) => `--${name}`)));
  }
});

test("the service reads the values of a command's flags from its call", () => {
  for (const command of commands) {
    const { binding, method } = command;
    const { request } = readCommandLine(command, allFlags(command), noFile);
    const call = restCall(binding, request);
    const [path = "", query = ""] = call.target.split("?");
    const read = decoderOf(binding)({
      segments: segmentsOf(path, binding.template.verb),
      query,
      body: Buffer.from(call.body ?? ""),
      contentType: "application/json",
    });
    // This test made the request; fromJson refuses what it must not hold.
    const meant = fromJson(method.input, request as JsonObject);
    for (const message of [read, meant]) withoutMask(command, message);
    expect(equals(method.input, read, meant), `${command.group} ${command.name}`).toBe(true);
  }
});

test("a missing required field is reported by its flag before the service is called", () => {
  for (const command of commands) {
    const inPath = command.binding.variables.map(({ fields }) => fields[0]);
    for (const field of command.method.input.fields.filter(isRequired)) {
      const wanted = inPath.includes(field) ? `<${flagName([field])}>` : `--${flagName([field])}`;
      expect(() => checkRequired(command, {})).toThrow(wanted);
    }
  }
});

test("exactly the operations that answer with a job can be waited for", async () => {
  const watched: string[] = [];
  for (const command of commands)
    if ((await watchOf(command)) !== undefined) watched.push(`${command.group} ${command.name}`);
  expect(watched).toEqual([
    "exports create",
    "exports get",
    "jobs get",
    "links create-bulk-job",
    "webhooks replay-deliveries",
  ]);
});

/** A value for every flag; of fields that exclude each other only the first. */
function allFlags({ method }: Command): string[] {
  const chosen = new Map<object, object>();
  return flagsOf(method.input).flatMap((flag) => {
    for (const field of flag.path) {
      if (field.oneof === undefined) continue;
      if ((chosen.get(field.oneof) ?? field) !== field) return [];
      chosen.set(field.oneof, field);
    }
    return isBoolean(flag.field) ? [`--${flag.name}`] : [`--${flag.name}=${sampleOf(flag)}`];
  });
}

function sampleOf({ field, name }: Flag): string {
  if (field.enum !== undefined) return shortNames(field.enum)[0]?.toLowerCase() ?? "";
  if (isTimestamp(field)) return "2025-03-01";
  if (field.fieldKind === "map" || isFreeObject(field)) return "a key=a value = of it";
  if (field.message?.typeName === "google.protobuf.FieldMask") return "name";
  if (field.message !== undefined) return field.fieldKind === "list" ? "[{},{}]" : "{}";
  if (field.fieldKind === "list") return "ä b/?&,c";
  // The digit 9 is a valid text and a valid number.
  return /(name|title|id|slug|kind|key)$/.test(name) && isText(field)
    ? "ä/b ?&,=%2F+"
    : isBytes(field)
      ? "@x"
      : "9";
}

function isText(field: Flag["field"]): boolean {
  return field.fieldKind === "scalar" && field.scalar === 9;
}

function isBytes(field: Flag["field"]): boolean {
  return field.fieldKind === "scalar" && field.scalar === 12;
}

function segmentsOf(path: string, verb: string): string[] {
  const withoutVerb = verb === "" ? path : path.slice(0, -verb.length - 1);
  return withoutVerb.slice(1).split("/");
}

/** Removes the mask, which REST fills from the body and no flag sets. */
function withoutMask({ binding }: Command, message: Message): void {
  if (binding.maskField !== undefined) delete fieldsOf(message)[binding.maskField.localName];
}
