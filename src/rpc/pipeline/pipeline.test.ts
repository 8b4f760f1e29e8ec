import { create } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import { EchoService } from "../../../gen/signpost/testing/v1/echo_pb.js";
import { ApiScopesService } from "../../../gen/signpost/v1/api_scopes_service_pb.js";
import { WorkspaceTokenKeyType } from "../../../gen/signpost/v1/workspace_token_pb.js";
import {
  CreateWorkspaceTokenRequestSchema,
  GetWorkspaceTokenRequestSchema,
  ListWorkspaceTokensRequestSchema,
  WorkspaceTokensService,
} from "../../../gen/signpost/v1/workspace_tokens_service_pb.js";
import { type CallFacts, newCall } from "../../../test/support/new-call.ts";
import { standInServices } from "../../../test/support/stand-in-services.ts";
import { startApi } from "../../../test/support/start-api.ts";
import { openDatabase } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import { everyScope } from "../../model/scope.ts";
import type { TokenClaims } from "../../model/token.ts";
import { planMethods } from "../access.ts";
import type { Context, RegisteredService } from "../handlers.ts";

const { handlers, services } = standInServices();
const api = await startApi({ services, rateLimits: { token: 100, publishable: 10, anonymous: 5 } });
const { list, create: createToken, get } = WorkspaceTokensService.method;

function listWith(facts: CallFacts = {}) {
  return api.invoke(list, () => create(ListWorkspaceTokensRequestSchema), newCall(facts));
}

async function tokenOf(change: Partial<TokenClaims> = {}): Promise<string> {
  const at = api.now();
  return api.signToken({
    tokenId: newId(at),
    workspaceId: newId(at),
    keyType: "SECRET",
    environment: "live",
    scope: change.keyType === "PUBLISHABLE" ? "" : everyScope,
    issuedAt: at,
    ...change,
  });
}

const challenge = 'Bearer resource_metadata="http://api.test/.well-known/oauth-protected-resource"';

test("a call without a token is refused with 401 and the way to get one, before its body is read", async () => {
  const outcome = await api.invoke(list, () => expect.unreachable("read"), newCall());
  expect(outcome).toMatchObject({
    ok: false,
    error: {
      code: "UNAUTHENTICATED",
      reason: "UNAUTHENTICATED",
      refusal: { headers: { "www-authenticate": challenge } },
    },
  });
});

test("a caller whose token is refused gets the rate-limit headers of callers without a token", async () => {
  for (const facts of [{}, { authorization: "Bearer nonsense" }]) {
    const outcome = await listWith({ ...facts, clientAddress: "198.51.100.77" });
    expect(outcome).toMatchObject({ ok: false, headers: { "ratelimit-policy": '"default";q=10;w=2' } });
    expect(outcome.headers.ratelimit).toMatch(/^"default";r=\d+;t=\d+$/);
  }
});

test("only a bearer token is accepted, whatever the case of the word", async () => {
  const token = await tokenOf();
  for (const authorization of [`bearer ${token}`, `BEARER   ${token}`])
    expect(await listWith({ authorization })).toMatchObject({ ok: true });
  for (const authorization of [
    "",
    "Bearer",
    `Basic ${token}`,
    token,
    `Bearer ${token} x`,
    `Bearer ${token}x`,
  ])
    expect(await listWith({ authorization }), authorization).toMatchObject({
      error: { code: "UNAUTHENTICATED" },
    });
});

test("an expired token is refused, even after it was accepted before", async () => {
  const token = await tokenOf({ expiresAt: new Date(api.now().getTime() + 60_000) });
  expect(await listWith({ token })).toMatchObject({ ok: true });
  api.clock.advance(61_000);
  expect(await listWith({ token })).toMatchObject({ error: { code: "UNAUTHENTICATED" } });
});

test("a token whose prefix and environment disagree is refused with a reason that says so", async () => {
  const sandbox = await tokenOf({ environment: "test" });
  expect(await listWith({ token: sandbox })).toMatchObject({ ok: true });
  for (const token of [sandbox.slice("svc_test_".length), `svc_test_${await tokenOf()}`])
    expect(await listWith({ token })).toMatchObject({ error: { reason: "TOKEN_ENVIRONMENT_MISMATCH" } });
});

test("a handler sees the caller behind the token", async () => {
  const workspaceId = newId(api.now());
  let seen: Context | undefined;
  handlers.get = async (_request, context) => {
    seen = context;
    return {};
  };
  const token = await tokenOf({ workspaceId, environment: "test" });
  const request = create(GetWorkspaceTokenRequestSchema, { id: workspaceId });
  await api.invoke(get, () => request, newCall({ token, requestId: "mine" }));
  expect(seen).toMatchObject({
    requestId: "mine",
    caller: { workspaceId, sandbox: true, memberId: undefined },
  });
  expect(seen?.caller?.scopes.has("links:write")).toBe(true);
});

test("a caller without the scope is refused with 403 and the scope's name, before the body is read", async () => {
  const token = await tokenOf({ keyType: "PUBLISHABLE" });
  const outcome = await api.invoke(list, () => expect.unreachable("read"), newCall({ token }));
  expect(outcome).toMatchObject({
    error: {
      code: "PERMISSION_DENIED",
      reason: "INSUFFICIENT_SCOPE",
      refusal: {
        metadata: { scope: "tokens:read" },
        headers: { "www-authenticate": `${challenge}, error="insufficient_scope", scope="tokens:read"` },
      },
    },
  });
});

test("an open call ignores a valid token and refuses an invalid one", async () => {
  const open = api.rest();
  expect((await open("GET", "/v1/api-scopes")).status).toBe(200);
  expect((await api.rest(await tokenOf())("GET", "/v1/api-scopes")).status).toBe(200);
  expect((await api.rest("rubbish")("GET", "/v1/api-scopes")).status).toBe(401);
});

test("the rate limit comes before the scope check, and its refusal says when to come back", async () => {
  const token = await tokenOf({ keyType: "PUBLISHABLE" });
  const codes = new Set<string>();
  for (let count = 0; count < 20; count++) codes.add(codeOf(await listWith({ token })));
  expect([...codes]).toEqual(["PERMISSION_DENIED"]);
  const refused = await listWith({ token });
  expect(refused).toMatchObject({ error: { reason: "RATE_LIMITED", refusal: { retryAfterSeconds: 1 } } });
});

test("every answer tells the caller how much of the rate is left", async () => {
  const { headers } = await listWith({ token: await tokenOf(), requestId: "asked-for" });
  expect(headers).toEqual({
    "x-request-id": "asked-for",
    "ratelimit-policy": '"default";q=200;w=2',
    ratelimit: '"default";r=199;t=1',
  });
});

test("every bad field is listed, and a request is refused before its handler runs", async () => {
  handlers.create = async () => expect.unreachable("handler");
  const request = create(CreateWorkspaceTokenRequestSchema, { name: "x".repeat(101) });
  const outcome = await api.invoke(createToken, () => request, newCall({ token: await tokenOf() }));
  expect(outcome).toMatchObject({ error: { reason: "INVALID_ARGUMENT" } });
  expect(fieldsOf(outcome)).toEqual(["keyType", "name"]);
});

test("an unexpected error is masked, and logged once with request id and stack", async () => {
  handlers.list = async () => {
    throw new TypeError("the engine is on fire");
  };
  const outcome = await listWith({ token: await tokenOf(), requestId: "find-me-in-the-log" });
  expect(outcome).toMatchObject({
    error: { code: "INTERNAL", message: "internal error; the request id finds it in the service's log" },
  });
  const lines = api
    .log()
    .split("\n")
    .filter((line) => line.includes("find-me-in-the-log"));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: 50,
    method: "signpost.v1.WorkspaceTokensService/List",
    code: "INTERNAL",
    failure: {
      type: "TypeError",
      message: "the engine is on fire",
      stack: expect.stringContaining("pipeline.test"),
    },
  });
});

test("no token, key, body or database value reaches the log", async () => {
  const token = await tokenOf();
  const planted = "planted-secret-7f3a";
  handlers.create = async (_request, { db }) => {
    await sql`select ${planted}::uuid`.execute(db);
    return {};
  };
  const request = create(CreateWorkspaceTokenRequestSchema, {
    name: planted,
    keyType: WorkspaceTokenKeyType.SECRET,
  });
  const target = `POST /v1/workspace-tokens?name=${planted}`;
  const outcome = await api.invoke(
    createToken,
    () => request,
    newCall({ token, idempotencyKey: planted, target }),
  );
  expect(codeOf(outcome)).toBe("INTERNAL");
  await listWith({ authorization: `Bearer ${planted}` });
  expect(api.log()).toContain('"code":"22P02"');
  expect(api.log()).not.toContain(planted);
  expect(api.log()).not.toContain(token);
});

test("an unreachable or failing database answers UNAVAILABLE with a time to come back", async () => {
  const connection = { host: "127.0.0.1", port: 1, user: "nobody", database: "nowhere" };
  const nowhere = openDatabase({ connection, poolSize: 1, statementTimeoutMs: 1_000, onError: () => {} });
  afterAll(nowhere.close);
  const token = await tokenOf();
  handlers.list = async () => {
    await sql`select 1`.execute(nowhere.db);
    return {};
  };
  const away = { error: { code: "UNAVAILABLE", refusal: { retryAfterSeconds: 1 } } };
  expect(await listWith({ token })).toMatchObject(away);
  const { connection: here } = api.database;
  const doomed = openDatabase({
    connection: here,
    poolSize: 1,
    statementTimeoutMs: 1_000,
    onError: () => {},
  });
  afterAll(doomed.close);
  handlers.list = async () => {
    await sql`select pg_terminate_backend(pg_backend_pid())`.execute(doomed.db);
    return {};
  };
  expect(await listWith({ token })).toMatchObject(away);
});

test("a lost race in the database is ABORTED, and a statement that is cancelled by its timeout DEADLINE_EXCEEDED", async () => {
  const token = await tokenOf();
  for (const [state, code] of [
    ["40001", "ABORTED"],
    ["40P01", "ABORTED"],
    ["57014", "DEADLINE_EXCEEDED"],
  ] as const) {
    handlers.list = async (_request, { db }) => {
      await sql`do ${sql.lit(`begin raise exception 'x' using errcode = '${state}'; end`)}`.execute(db);
      return {};
    };
    expect(codeOf(await listWith({ token }))).toBe(code);
  }
});

test("a call ends with the shorter of the client's and the service's timeout", async () => {
  const { handlers: slow, services: slowServices } = standInServices();
  const impatient = await startApi({ services: slowServices, database: api.database, requestTimeoutMs: 30 });
  let ended: Promise<unknown> | undefined;
  slow.list = (_request, { signal }) => {
    ended = new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason)));
    return new Promise(() => {});
  };
  const read = () => create(ListWorkspaceTokensRequestSchema);
  const token = await tokenOf();
  // On a busy machine the time may be over before the handler begins.
  while (ended === undefined) {
    const outcome = await impatient.invoke(list, read, newCall({ token, timeoutMs: 1e12 }));
    expect(codeOf(outcome)).toBe("DEADLINE_EXCEEDED");
  }
  expect(await ended).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  handlers.list = () => new Promise(() => {});
  expect(codeOf(await listWith({ token, timeoutMs: 5 }))).toBe("DEADLINE_EXCEEDED");
  expect(codeOf(await listWith({ token, timeoutMs: 0 }))).toBe("DEADLINE_EXCEEDED");
});

test("a handler never starts for a client that has gone, and a call whose client goes ends at once", async () => {
  const token = await tokenOf();
  handlers.list = async () => expect.unreachable("handler");
  expect(codeOf(await listWith({ token, signal: AbortSignal.abort() }))).toBe("CANCELLED");
  const client = new AbortController();
  handlers.list = () => {
    client.abort();
    return new Promise(() => {});
  };
  expect(codeOf(await listWith({ token, signal: client.signal }))).toBe("CANCELLED");
});

test("calls are counted by method, protocol and code", async () => {
  handlers.list = async () => ({});
  await listWith({ token: await tokenOf(), protocol: "connect" });
  const text = await api.metrics.metrics();
  const labels = 'method="signpost.v1.WorkspaceTokensService/List",protocol="connect",code="OK"';
  expect(text).toContain(`signpost_calls_total{${labels}} 1`);
  expect(text).toContain(`signpost_call_duration_seconds_count{${labels}} 1`);
});

test("a method that is not registered is UNIMPLEMENTED", async () => {
  const outcome = await api.invoke(EchoService.method.echo, () => expect.unreachable("read"), newCall());
  expect(codeOf(outcome)).toBe("UNIMPLEMENTED");
});

test("a service with a streaming method, without access or without a handler is refused at the start", () => {
  const plan = (service: RegisteredService["service"], names: string[]) =>
    planMethods([
      {
        service,
        unbuilt: new Set(),
        handlers: Object.fromEntries(names.map((name) => [name, async () => ({})])),
      },
    ]);
  expect(() => plan(ServerReflection, ["serverReflectionInfo"])).toThrow(
    "only unary methods and streams of their parts are served",
  );
  expect(() => plan(EchoService, ["echo"])).toThrow("must declare its access");
  expect(() => plan(ApiScopesService, [])).toThrow("has no handler");
  expect(() => plan(ApiScopesService, ["list"])).not.toThrow();
});

function codeOf(outcome: Awaited<ReturnType<typeof listWith>>): string {
  return outcome.ok ? "OK" : outcome.error.code;
}

function fieldsOf(outcome: Awaited<ReturnType<typeof listWith>>): string[] {
  return outcome.ok ? [] : (outcome.error.refusal.fields ?? []).map(({ field }) => field);
}

test("the secret tokens of a workspace share an allowance, and publishable tokens take nothing from it", async () => {
  const limited = await startApi({ services, rateLimits: { token: 3, workspace: 4, publishable: 100 } });
  const workspaceId = newId(limited.now());
  const token = (keyType: "SECRET" | "PUBLISHABLE") =>
    limited.signToken({
      ...{ tokenId: newId(limited.now()), workspaceId, keyType },
      ...{ scope: everyScope, environment: "live", issuedAt: limited.now() },
    });
  const request = () => create(ListWorkspaceTokensRequestSchema);
  const allowed = async (accessToken: string) => {
    const calls = Array.from({ length: 20 }, () =>
      limited.invoke(list, request, newCall({ token: accessToken })),
    );
    return (await Promise.all(calls)).filter((outcome) => outcome.ok).length;
  };
  const publishable = await token("PUBLISHABLE");
  await allowed(publishable);
  expect([await allowed(await token("SECRET")), await allowed(await token("SECRET"))]).toEqual([6, 2]);
});
