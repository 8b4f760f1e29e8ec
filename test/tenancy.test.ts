import { randomUUID } from "node:crypto";
import {
  type DescField,
  type DescMessage,
  type DescMethodUnary,
  getOption,
  type JsonObject,
} from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FieldRules, field as fieldRules } from "../gen/buf/validate/validate_pb.js";
import { access } from "../gen/signpost/options/v1/access_pb.js";
import { type Answer, ask, protocols } from "./support/ask.ts";
import { startSlack } from "./support/slack/stand-in.ts";
import { startApi, type TestWorkspace } from "./support/start-api.ts";
import { kindsByField, linkOf, makers, type RecordKind, seeds } from "./support/tenant-records.ts";

const slack = await startSlack();
afterAll(slack.close);
const api = await startApi({ deps: { slack: slack.client } });

/** Every RPC that reads or writes records of a workspace, from the service registry. */
const methods: DescMethodUnary[] = api.services
  .flatMap(({ service, unbuilt }) => service.methods.filter(({ localName }) => !unbuilt.has(localName)))
  .filter((method): method is DescMethodUnary => method.methodKind === "unary")
  .filter((method) => getOption(method, access).kind.case === "scope")
  // What only members may call concerns the member who calls.
  .filter((method) => !getOption(method, access).memberSession);

const kinds = Object.keys(makers) as RecordKind[];
type Records = Record<RecordKind, string>;

let mine: TestWorkspace;
let own: Records;
let theirs: TestWorkspace;
let foreign: Records;

beforeAll(async () => {
  [mine, theirs] = [await api.newWorkspace(), await api.newWorkspace()];
  [own, foreign] = [await recordsOf(mine), await recordsOf(theirs)];
});

async function recordsOf(workspace: TestWorkspace): Promise<Records> {
  const made: [RecordKind, string][] = [];
  for (const kind of kinds) made.push([kind, await makers[kind](api, workspace)]);
  // One entry for every kind.
  return Object.fromEntries(made) as Records;
}

/** The other workspace's record of each case, for as long as the case is refused. Making it costs more than asking. */
const untouched = new Map<string, string>();

function nameOf(method: DescMethodUnary): string {
  return `${method.parent.name}.${method.name}`;
}

/** A field whose value is an id, and the JSON that puts one there. */
interface IdField {
  readonly path: string;
  readonly kind: RecordKind | undefined;
  readonly put: (request: JsonObject, id: string) => JsonObject;
}

/** Whether a field is an id: its rules require a UUID, or its name says so. */
function isId(field: DescField): boolean {
  const rules = getOption(field, fieldRules);
  const items = rules.type.case === "repeated" ? rules.type.value.items : rules;
  return isUuidRule(items) || /(^|_)ids?$/.test(field.name);
}

function isUuidRule(rules: FieldRules | undefined): boolean {
  return rules?.type.case === "string" && rules.type.value.wellKnown.case === "uuid";
}

function idFields(message: DescMessage, service: string, seen: readonly DescMessage[] = []): IdField[] {
  if (seen.includes(message)) return [];
  return message.fields.flatMap((field): IdField[] => {
    const name = field.jsonName;
    const wrap = (value: JsonObject | string) => (field.fieldKind === "list" ? [value] : value);
    if (field.message !== undefined) {
      return idFields(field.message, service, [...seen, message]).map(({ path, kind, put }) => ({
        path: `${name}.${path}`,
        kind,
        put: (request, id) => ({ ...request, [name]: wrap(put({}, id)) }),
      }));
    }
    if (!isId(field)) return [];
    const places = [`${message.name} ${name}`, `${service} ${name}`, name];
    const kind = places.map((place) => kindsByField[place]).find((found) => found !== undefined);
    return [{ path: name, kind, put: (request, id) => ({ ...request, [name]: wrap(id) }) }];
  });
}

/** All objects that the request can include besides the record itself. */
function everyInclude(method: DescMethodUnary): JsonObject {
  const include = method.input.fields.find(({ name }) => name === "include");
  const rules = include && getOption(include, fieldRules).type;
  const items = rules?.case === "repeated" ? rules.value.items?.type : undefined;
  return items?.case === "string" ? { include: items.value.in } : {};
}

/** An answer without the requested id and without values that are new in every answer. */
function shapeOf(answer: Answer, id: string): string {
  return JSON.stringify(answer)
    .replaceAll(id, "<id>")
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/\b[A-Za-z0-9]{4}-[A-Za-z0-9]{4}\b/g, "<shortlink>")
    .replaceAll(/eyJ[\w.-]+/g, "<token>");
}

test("every RPC and every id field has a seed, so that a new one cannot escape these tests", () => {
  expect(methods.length).toBeGreaterThan(10);
  const names = methods.map(nameOf);
  expect(Object.keys(seeds).toSorted((a, b) => a.localeCompare(b))).toEqual(
    names.toSorted((a, b) => a.localeCompare(b)),
  );
  const unknown = methods.flatMap((method) =>
    idFields(method.input, method.parent.name)
      .filter(({ kind }) => kind === undefined)
      .map(({ path }) => `${nameOf(method)} ${path}`),
  );
  expect(unknown).toEqual([]);
});

describe.each(protocols)("over %s", (protocol) => {
  const cases = methods.flatMap((method) =>
    idFields(method.input, method.parent.name).map((id) => ({
      method,
      id,
      name: `${nameOf(method)} ${id.path}`,
    })),
  );

  test.each(cases)("another workspace's id is answered like a random id: $name", async ({ method, id }) => {
    const { kind } = id;
    if (kind === undefined) throw new Error(`nothing says what record ${id.path} leads to`);
    const seed = seeds[nameOf(method)];
    const base = { ...everyInclude(method), ...(seed?.request(own) as JsonObject) };
    const send = async (value: string) => {
      await seed?.makeRoom?.(api, mine.workspaceId);
      return shapeOf(await ask(api, protocol, method, id.put(base, value), mine.token), value);
    };
    const name = `${nameOf(method)} ${id.path}`;
    const foreignId = untouched.get(name) ?? (await makers[kind](api, theirs));
    const toForeign = await send(foreignId);
    // Creating a record with a foreign id makes the id mine too, so the next protocol gets another one.
    if (toForeign.includes('"reason":"OK"')) untouched.delete(name);
    else untouched.set(name, foreignId);
    expect(toForeign).toBe(await send(randomUUID()));
    expect(toForeign).not.toContain('"reason":"INTERNAL"');
  });

  const lists = methods.filter((method) => method.input.fields.some(({ name }) => name === "page_token"));

  test.each(lists.map((method) => ({ method, name: nameOf(method) })))(
    "another workspace's page token is refused by either name, and its records are not listed: $name",
    async ({ method, name }) => {
      const { lists: kind, request } = seeds[name] ?? {};
      if (kind === undefined || request === undefined)
        throw new Error(`the seed of ${name} does not say what it lists`);
      await makers[kind](api, theirs);
      const first = await ask(
        api,
        protocol,
        method,
        { ...(request(foreign) as JsonObject), pageSize: "1" },
        theirs.token,
      );
      const pageToken = /"nextPageToken":"([^"]+)"/.exec(JSON.stringify(first.body))?.[1] ?? "";
      expect(pageToken, JSON.stringify(first)).not.toBe("");
      const hasCursor = method.input.fields.some((field) => field.name === "cursor");
      for (const token of hasCursor ? ["pageToken", "cursor"] : ["pageToken"]) {
        const next = { pageSize: "1", [token]: pageToken };
        const again = { ...(request(foreign) as JsonObject), ...next };
        const second = await ask(api, protocol, method, again, theirs.token);
        expect(second.reason).toBe("OK");
        expect(second.body).not.toEqual(first.body);
        const theft = { ...(request(own) as JsonObject), ...next };
        const stolen = await ask(api, protocol, method, theft, mine.token);
        expect(stolen.reason).toBe("INVALID_PAGE_TOKEN");
      }
      const all = await ask(
        api,
        protocol,
        method,
        { ...(request(own) as JsonObject), ...everyInclude(method) },
        mine.token,
      );
      expect(all.reason).toBe("OK");
      const text = JSON.stringify(all.body);
      for (const id of [theirs.workspaceId, ...Object.values(foreign)]) expect(text).not.toContain(id);
    },
  );
});

test("after all these calls the other workspace's records are unchanged", async () => {
  expect(await recordsNow()).toMatchObject({ link: 200, token: 200, event: 200 });
  const { json } = await theirs.rest("GET", `/v1/links/${foreign.link}`);
  expect(json.link.name).not.toBe("Renamed");
  const steps = await theirs.rest("GET", `/v1/links/${linkOf(foreign.workflowStep)}/workflow-steps`);
  expect(steps.json.workflowSteps).toMatchObject([
    { payload: { linkVisit: {} } },
    { payload: { clientRedirect: { destination: "https://example.com" } } },
    {
      id: foreign.workflowStep,
      payload: { password: { title: "Members" } },
      branches: [{ branchId: "next" }],
    },
  ]);
  const setting = await theirs.rest("GET", `/v1/settings/link-setting/${foreign.linkSetting}`);
  expect(setting.json.linkSetting.dataCollection).toBe("DATA_COLLECTION_BASIC");
});

async function recordsNow() {
  const status = async (path: string) => (await theirs.rest("GET", path)).status;
  return {
    link: await status(`/v1/links/${foreign.link}`),
    token: await status(`/v1/workspace-tokens/${foreign.token}`),
    event: await status(`/v1/events/${foreign.event}/traces`),
  };
}
