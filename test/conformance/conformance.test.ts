import { fromJson, getOption, type JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { success_status } from "../../gen/signpost/options/v1/handling_pb.js";
import { apiScopes } from "../../src/rpc/access.ts";
import { checkRequest } from "../../src/rpc/pipeline/validate.ts";
import { startSlack } from "../support/slack/stand-in.ts";
import { startApi, type TestWorkspace } from "../support/start-api.ts";
import { seedRequest, seeds } from "../support/tenant-records.ts";
import { type Case, casesOf } from "./cases.ts";
import { typeCasesOf } from "./json-types.ts";
import { endsCaller, type Operation, operationsOf } from "./operations.ts";
import { type Answer, createSender, restForm, type Sender } from "./send.ts";
import { leastOf, mostOf } from "./valid.ts";

const slack = await startSlack();
afterAll(slack.close);
const api = await startApi({ deps: { slack: slack.client } });
const operations = operationsOf(api.services);
const open = operations.filter(({ access }) => access === "open");
const closed = operations.filter(({ access }) => access !== "open");
const byScope = operations.filter(({ access }) => access === "scope");
const forFullAccess = byScope.filter(({ fullAccess }) => fullAccess);
const forMembers = operations.filter(({ access }) => access === "memberSession");
const forTokens = operations.filter(({ access }) => access !== "memberSession");
const seeded = forTokens.filter(({ name }) => seeds[name] !== undefined);
const unseeded = forTokens.filter(({ name }) => seeds[name] === undefined);
const broken = new Map(operations.map((operation) => [operation, casesOf(operation.method.input)]));

let workspace: TestWorkspace;
let sender: Sender;
let stranger: Sender;

beforeAll(async () => {
  workspace = await api.newWorkspace();
  sender = createSender(api, workspace.token);
  stranger = createSender(api, undefined);
});

/** Operations of which a workspace allows few. */
const allowsFew: ReadonlySet<string> = new Set(["SandboxesService.Create"]);

/** A workspace of its own for an operation that ends its caller, or that a workspace allows few of. */
async function workspaceFor({ name }: Operation): Promise<TestWorkspace> {
  return endsCaller.has(name) || allowsFew.has(name) ? api.newWorkspace() : workspace;
}

interface Answers {
  /** Undefined when the request has no REST form. */
  readonly rest: Answer | undefined;
  readonly grpc: Answer;
}

async function askBoth(
  by: Sender,
  operation: Operation,
  request: JsonObject,
  restRequest = request,
): Promise<Answers> {
  const [rest, grpc] = await Promise.all([by.rest(operation, restRequest), by.grpc(operation, request)]);
  return { rest, grpc };
}

/** The faults in the answers to each item; a few items are tested at a time. */
async function faultsAmong<T>(all: readonly T[], faultOf: (each: T) => Promise<string | undefined>) {
  const faults: string[] = [];
  for (let from = 0; from < all.length; from += 16) {
    const some = await Promise.all(all.slice(from, from + 16).map(faultOf));
    faults.push(...some.filter((fault) => fault !== undefined));
  }
  return faults;
}

/** Undefined when both answers have the reason and its status. */
function unlike(
  { rest, grpc }: Answers,
  reason: string,
  httpStatus: number,
  code: string,
): string | undefined {
  const isRest = rest === undefined || (rest.reason === reason && rest.status === httpStatus);
  const isGrpc = grpc.reason === reason && grpc.status === code;
  return isRest && isGrpc ? undefined : JSON.stringify({ rest, grpc });
}

function named(operation: Operation, fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : `${operation.name}: ${fault}`;
}

describe("access", () => {
  test(`the ${closed.length} operations that are not open refuse a call without a token`, async () => {
    const faults = await faultsAmong(closed, async (operation) => {
      const answers = await askBoth(stranger, operation, leastOf(operation.method.input));
      return named(operation, unlike(answers, "UNAUTHENTICATED", 401, "UNAUTHENTICATED"));
    });
    expect(faults).toEqual([]);
  });

  test(`the ${byScope.length} operations with a scope refuse a token with every other scope, and name the missing scope`, async () => {
    const faults = await faultsAmong(byScope, async (operation) => {
      // A write scope includes the read scope of its resource.
      const includes = [operation.scope, operation.scope.replace(/:read$/, ":write")];
      const others = [...apiScopes].filter((scope) => !includes.includes(scope));
      const by = createSender(api, await api.scopedToken(workspace.workspaceId, others));
      const answers = await askBoth(by, operation, leastOf(operation.method.input));
      const names = [answers.rest ?? answers.grpc, answers.grpc].map(({ metadata }) => metadata.scope);
      const isNamed = names.every((name) => name === operation.scope);
      const fault = unlike(answers, "INSUFFICIENT_SCOPE", 403, "PERMISSION_DENIED");
      return named(operation, fault ?? (isNamed ? undefined : `names ${names}`));
    });
    expect(faults).toEqual([]);
  });

  test(`the ${byScope.length} operations with a scope let in a token with that scope alone`, async () => {
    const faults = await faultsAmong(byScope, async (operation) => {
      const by = async () => {
        const { workspaceId } = await workspaceFor(operation);
        return createSender(api, await api.scopedToken(workspaceId, [operation.scope]));
      };
      const request = leastOf(operation.method.input);
      const rest = await (await by()).rest(operation, request);
      const grpc = await (await by()).grpc(operation, request);
      const refused = [rest, grpc].filter((answer) =>
        /^(INSUFFICIENT_SCOPE|UNAUTHENTICATED)$/.test(answer?.reason ?? ""),
      );
      return refused.length === 0 ? undefined : named(operation, JSON.stringify(refused));
    });
    expect(faults).toEqual([]);
  });

  test(`the ${forFullAccess.length} operations for full access refuse a token with every scope, chosen one by one`, async () => {
    const by = createSender(api, await api.scopedToken(workspace.workspaceId, [...apiScopes]));
    const faults = await faultsAmong(forFullAccess, async (operation) => {
      const answers = await askBoth(by, operation, leastOf(operation.method.input));
      return named(operation, unlike(answers, "FULL_ACCESS_REQUIRED", 403, "PERMISSION_DENIED"));
    });
    expect(forFullAccess.length).toBeGreaterThan(0);
    expect(faults).toEqual([]);
  });

  test(`of the ${byScope.length} operations with a scope, a publishable token may make one`, async () => {
    const { json } = await workspace.rest("POST", "/v1/workspace-tokens", {
      keyType: "WORKSPACE_TOKEN_KEY_TYPE_PUBLISHABLE",
    });
    const by = createSender(api, json.accessToken);
    const letIn: string[] = [];
    const faults = await faultsAmong(byScope, async (operation) => {
      const answers = await askBoth(by, operation, leastOf(operation.method.input));
      const fault = unlike(answers, "INSUFFICIENT_SCOPE", 403, "PERMISSION_DENIED");
      if (operation.name !== "VisitorsService.Identify") return named(operation, fault);
      if (fault !== undefined) letIn.push(operation.name);
      return undefined;
    });
    expect(faults).toEqual([]);
    expect(letIn).toEqual(["VisitorsService.Identify"]);
  });

  test(`the ${forMembers.length} operations for members refuse a token with every scope`, async () => {
    const faults = await faultsAmong(forMembers, async (operation) => {
      const answers = await askBoth(sender, operation, leastOf(operation.method.input));
      return named(operation, unlike(answers, "MEMBER_SESSION_REQUIRED", 403, "PERMISSION_DENIED"));
    });
    expect(faults).toEqual([]);
  });

  test(`the ${open.length} open operations let in a call without a token`, async () => {
    const faults = await faultsAmong(open, async (operation) => {
      const { rest, grpc } = await askBoth(stranger, operation, leastOf(operation.method.input));
      const refused = [rest, grpc].filter((answer) => answer !== undefined && !hasPassed(answer));
      return refused.length === 0 ? undefined : named(operation, JSON.stringify(refused));
    });
    expect(faults).toEqual([]);
  });
});

/** Whether a call has reached its handler: it succeeded, or failed for the state of a record. */
function hasPassed({ reason, status }: Answer): boolean {
  const states = [404, 409, 412, "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION"];
  return reason === "OK" || reason === "UNIMPLEMENTED" || states.includes(status);
}

describe("valid requests", () => {
  const requests = operations.flatMap(({ name, method }) =>
    [leastOf(method.input), mostOf(method.input)].map((request) => ({ name, method, request })),
  );

  test(`with only the required fields, and with every field, keep the rules: ${requests.length} requests`, () => {
    const faults = requests.flatMap(({ name, method, request }) => {
      const refusal = checkRequest(fromJson(method.input, request), method.input);
      return refusal === undefined ? [] : [`${name}: ${refusal.message}`];
    });
    expect(faults).toEqual([]);
  });

  test(`about records that exist are accepted by the ${seeded.length} operations of a workspace`, async () => {
    // One service's operations run one after the other: of some records a workspace has only a few.
    const services = [...Map.groupBy(seeded, ({ method }) => method.parent).values()];
    const faults = await faultsAmong(services, async (of) => {
      const found = [];
      for (const operation of of) found.push(await refusalOfSeed(operation));
      return found.find((fault) => fault !== undefined);
    });
    expect(faults).toEqual([]);
  });

  test(`are accepted, or find no record, at the ${unseeded.length} operations of no workspace`, async () => {
    const faults = await faultsAmong(unseeded, async (operation) => {
      const { rest, grpc } = await askBoth(sender, operation, leastOf(operation.method.input));
      const refused = [rest, grpc].filter((answer) => answer !== undefined && !hasPassed(answer));
      return refused.length === 0 ? undefined : named(operation, JSON.stringify(refused));
    });
    expect(faults).toEqual([]);
  });
});

async function refusalOfSeed(operation: Operation): Promise<string | undefined> {
  const by = async () => {
    const { token, workspaceId } = await workspaceFor(operation);
    await seeds[operation.name]?.makeRoom?.(api, workspaceId);
    return createSender(api, token);
  };
  const rest = await (await by()).rest(operation, await seedRequest(api, workspace, operation.name));
  const grpc = await (await by()).grpc(operation, await seedRequest(api, workspace, operation.name));
  const status = getOption(operation.method, success_status) || 200;
  return named(operation, unlike({ rest, grpc }, "OK", status, "OK"));
}

const all = forTokens.flatMap((operation) => casesFor(operation).map((each) => ({ operation, ...each })));
const withRestForm = all.filter(
  ({ operation, restRequest }) => restForm(operation, restRequest) !== undefined,
);
const counted = `${all.length} over gRPC, ${withRestForm.length} of them over REST`;

describe(`a request that breaks one rule is refused by both protocols under the field's name: ${counted}`, () => {
  const withRules = forTokens.filter((operation) => casesFor(operation).length > 0);

  test.each(withRules.map((operation) => [operation.name, casesFor(operation).length, operation] as const))(
    "%s: %i requests",
    async (_, __, operation) => {
      const faults = await faultsAmong(
        casesFor(operation),
        async ({ name, request, restRequest, ...rule }) => {
          const { rest, grpc } = await askBoth(sender, operation, request, restRequest);
          const isRest = rest === undefined || (rest.status === 400 && rest.reason === grpc.reason);
          const isGrpc = grpc.status === "INVALID_ARGUMENT" && /^INVALID_(ARGUMENT|ID)$/.test(grpc.reason);
          const isNamed =
            blames(rule, grpc.fields) && String(rest?.fields ?? grpc.fields) === String(grpc.fields);
          return isRest && isGrpc && isNamed ? undefined : `${name}: ${JSON.stringify({ rest, grpc })}`;
        },
      );
      expect(faults).toEqual([]);
    },
  );

  // Without a session these calls never reach their rules.
  test.each(forMembers.map((operation) => [operation.name, casesFor(operation).length, operation] as const))(
    "%s, for members, by the rules alone: %i requests",
    (_, __, operation) => {
      const { input } = operation.method;
      const faults = casesFor(operation).flatMap(({ name, request, ...rule }) => {
        const refusal = checkRequest(fromJson(input, request), input)?.refusal;
        const fields = (refusal?.fields ?? []).map(({ field }) => field);
        return blames(rule, [...new Set(fields)]) ? [] : [`${name}: ${fields}`];
      });
      expect(faults).toEqual([]);
    },
  );
});

const typeCases = forTokens.flatMap((operation) =>
  typeCasesOf(operation).map((each) => ({ operation, ...each })),
);

test(`a value of another JSON type is refused by REST under its field's name: ${typeCases.length} requests`, async () => {
  const faults = await faultsAmong(typeCases, async ({ operation, field, request }) => {
    const answer = await sender.rest(operation, request);
    const isRefused = answer?.status === 400 && answer.reason === "INVALID_ARGUMENT";
    return isRefused && String(answer.fields) === field
      ? undefined
      : `${operation.name} ${field}: ${JSON.stringify(answer)}`;
  });
  expect(faults).toEqual([]);
});

function casesFor(operation: Operation): Case[] {
  return broken.get(operation) ?? [];
}

/** Whether the refused fields are only the one at fault or related to it. */
function blames(
  { field, isExpression }: Pick<Case, "field" | "isExpression">,
  fields: readonly string[],
): boolean {
  if (isExpression) return fields.length === 1 && fields.every((each) => isAtOrBelow(each, field));
  const isRelated = (each: string) => isAtOrBelow(each, field) || isAtOrBelow(field, each);
  return fields.includes(field) && fields.every(isRelated);
}

function isAtOrBelow(path: string, above: string): boolean {
  if (above === "") return path !== "request";
  return path === above || path.startsWith(`${above}.`) || path.startsWith(`${above}[`);
}
