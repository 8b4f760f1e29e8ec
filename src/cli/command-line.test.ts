import { beforeAll, expect, test } from "vitest";
import { readCommandLine } from "./command-line.ts";
import type { JsonObject } from "./operations/flag-values.ts";
import { type Command, findCommand, loadGroup } from "./operations/groups.ts";
import { restCall } from "./operations/request.ts";

let create: Command;
let createStep: Command;
let identify: Command;
let upload: Command;
let traces: Command;
let update: Command;

beforeAll(async () => {
  create = await commandOf("links", "create");
  update = await commandOf("links", "update");
  createStep = await commandOf("workflow-steps", "create");
  identify = await commandOf("visitors", "identify");
  upload = await commandOf("media", "create");
  traces = await commandOf("events", "list-traces");
});

async function commandOf(group: string, name: string): Promise<Command> {
  const command = findCommand(await loadGroup(group), name);
  if (command === undefined) throw new Error(`there is no ${group} ${name}`);
  return command;
}

function request(command: Command, ...args: string[]): JsonObject {
  return readCommandLine(command, args, (name) => Buffer.from(`bytes of ${name}`)).request;
}

test("lists are split at commas, repeated, or JSON where an item has a comma", () => {
  expect(request(create, "--tags", "a,b", "--tags=c")).toEqual({ tags: ["a", "b", "c"] });
  expect(request(create, "--tags", '["a,b"]')).toEqual({ tags: ["a,b"] });
  expect(request(update, "x", "--tags=")).toEqual({ id: "x", tags: [] });
});

test("maps are pairs; a value may contain an equals sign, and a key may be any text", () => {
  const metadata = request(create, "--metadata", "a=1=2", "--metadata", "__proto__=x").metadata;
  expect(Object.entries(metadata ?? {})).toEqual([
    ["a", "1=2"],
    ["__proto__", "x"],
  ]);
  expect(() => request(create, "--metadata", "a")).toThrow("--metadata must be key=value");
});

test("flags reach into nested messages, which may be given as JSON too", () => {
  const nested = { payload: { clientRedirect: { destination: "https://a", conversionTracking: false } } };
  const flags = [
    "--payload.client-redirect.destination=https://a",
    "--no-payload.client-redirect.conversion-tracking",
  ];
  expect(request(createStep, ...flags)).toEqual(nested);
  expect(request(createStep, "--payload", JSON.stringify(nested.payload))).toEqual(nested);
  expect(request(createStep, "--canvas-position.x", "-1.5")).toEqual({ canvasPosition: { x: -1.5 } });
});

test("free-form objects take pairs, keys after a dot, or JSON", () => {
  const visitor = { $email: "a@example.com", size: "9" };
  expect(request(identify, "--visitor", "$email=a@example.com", "--visitor.size", "9")).toEqual({ visitor });
  expect(request(identify, "--visitor", '{"n":1}', "--visitor", "m=2")).toEqual({
    visitor: { n: 1, m: "2" },
  });
});

test("enums take short and full names in any case, and errors list them", () => {
  for (const name of ["badge", "BADGE", "type_badge", "type-badge"])
    expect(request(upload, "--media-type", name)).toEqual({ mediaType: "TYPE_BADGE" });
  expect(() => request(upload, "--media-type", "logo")).toThrow(
    "--media-type must be one of CENTRAL_QRCODE_IMAGE, BACKGROUND_COVER, BADGE",
  );
});

test("bytes are read from a file or as base64", () => {
  const fileData = Buffer.from("bytes of logo.png").toString("base64");
  expect(request(upload, "--file-data", "@logo.png")).toEqual({ fileData });
  expect(request(upload, "--file-data", fileData)).toEqual({ fileData });
});

test("fields of the path are positionals in their order, or flags", () => {
  expect(request(update, "an-id", "--name", "n")).toEqual({ id: "an-id", name: "n" });
  expect(request(traces, "--event-id", "an-id")).toEqual({ eventId: "an-id" });
  expect(request(update, "--name", "n", "--", "--an-id")).toEqual({ id: "--an-id", name: "n" });
  expect(() => request(traces, "one", "two")).toThrow('"two" is one argument too many');
});

test("a flag never takes the next flag as its value, and mistyped flags are refused with a suggestion", () => {
  expect(() => request(create, "--name", "--json")).toThrow("--name needs a value");
  expect(request(create, "--name=--json")).toEqual({ name: "--json" });
  expect(() => request(create, "--name")).toThrow("--name needs a value");
  expect(() => request(create, "--destinaton", "x")).toThrow("did you mean --destination?");
  expect(() => request(create, "--json=yes")).toThrow("--json takes no value");
  expect(() => request(create, "--wait-for-qrcode=perhaps")).toThrow("must be true or false");
  expect(() => request(create, "--no-name")).toThrow("there is no flag --no-name");
});

test("a value that would change the path is refused, and every other value is encoded", () => {
  expect(() => restCall(update.binding, { id: ".." })).toThrow('".." cannot be part of a path');
  expect(() => restCall(update.binding, {})).toThrow("cannot be part of a path");
  expect(restCall(update.binding, { id: "a/../b?c" }).target).toBe("/v1/links/a%2F..%2Fb%3Fc");
});
