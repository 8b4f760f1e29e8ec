import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { AccessService } from "../../../gen/signpost/testing/v1/access_pb.js";
import { WorkspaceTokenKeyType } from "../../../gen/signpost/v1/workspace_token_pb.js";
import {
  CreateWorkspaceTokenRequestSchema,
  DeleteWorkspaceTokenRequestSchema,
  WorkspaceTokensService,
} from "../../../gen/signpost/v1/workspace_tokens_service_pb.js";
import { type CallFacts, newCall } from "../../../test/support/new-call.ts";
import { standInServices } from "../../../test/support/stand-in-services.ts";
import { startApi } from "../../../test/support/start-api.ts";
import { testConnections } from "../../../test/support/test-database.ts";
import { type Code, fail, type Reason } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { everyScope } from "../../model/scope.ts";
import { type Context, inTwoParts, registerPartly } from "../handlers.ts";
import { deleteExpired } from "./idempotency.ts";

const { handlers, services } = standInServices();
const first = await startApi({ services });
const second = await startApi({ services, database: first.database, clock: first.clock });
const apis = { first, second };

/** A caller in a workspace of its own, who calls Create with a key. */
async function newCaller(workspaceId = newId(first.now())) {
  const at = first.now();
  const token = await first.signToken({
    tokenId: newId(at),
    workspaceId,
    keyType: "SECRET",
    environment: "live",
    scope: everyScope,
    issuedAt: at,
  });
  return {
    workspaceId,
    call: (
      facts: CallFacts & { readonly on?: keyof typeof apis } = {},
      init: MessageInitShape<typeof CreateWorkspaceTokenRequestSchema> = {},
    ) => {
      const { on = "first", ...rest } = facts;
      const request = () =>
        create(CreateWorkspaceTokenRequestSchema, { keyType: WorkspaceTokenKeyType.SECRET, ...init });
      return apis[on].invoke(
        WorkspaceTokensService.method.create,
        request,
        newCall({ token, idempotencyKey: "key-1", ...rest }),
      );
    },
  };
}

/** Counts the runs of the handler and leaves an effect in the database: a blocked host named after the run. */
function countRuns(answer: (run: number, context: Context) => Promise<string>): { runs: () => number } {
  let runs = 0;
  handlers.create = async (_request, context) => {
    runs += 1;
    const run = runs;
    await effect(context, `run-${run}`);
    return { accessToken: await answer(run, context) };
  };
  return { runs: () => runs };
}

/** Counts the runs of a handler that waits for its answer before it writes. */
function countWaits(wait: (run: number) => Promise<string>): { runs: () => number } {
  let runs = 0;
  handlers.create = inTwoParts(async (_request, context: Context) => {
    runs += 1;
    const run = runs;
    const accessToken = await wait(run);
    return async (db) => {
      await effect({ ...context, db }, `run-${run}`);
      return { accessToken };
    };
  });
  return { runs: () => runs };
}

async function effect({ db, caller }: Context, reason: string): Promise<void> {
  const host = `${caller?.workspaceId}-${reason}`;
  await db.insertInto("blocked_hosts").values({ host, reason, created_at: first.now() }).execute();
}

async function effectsOf(workspaceId: string): Promise<string[]> {
  const rows = await first.db
    .selectFrom("blocked_hosts")
    .select("reason")
    .where("host", "like", `${workspaceId}%`)
    .orderBy("host")
    .execute();
  return rows.map(({ reason }) => reason);
}

test("a repeated key answers the stored outcome on every process, and the handler runs once", async () => {
  const { call, workspaceId } = await newCaller();
  const { runs } = countRuns(async () => "the secret");
  const original = await call();
  expect(original).toMatchObject({ ok: true, message: { accessToken: "the secret" } });
  expect(original.headers["idempotent-replayed"]).toBeUndefined();
  const replay = await call({ on: "second" });
  expect(replay).toMatchObject({
    ok: true,
    message: { accessToken: "the secret" },
    headers: { "idempotent-replayed": "true" },
  });
  expect(runs()).toBe(1);
  expect(await effectsOf(workspaceId)).toEqual(["run-1"]);
});

test("a key belongs to its token, its method and its path", async () => {
  const one = await newCaller();
  const other = await newCaller(one.workspaceId);
  const { runs } = countRuns(async (run) => `secret ${run}`);
  const answers = [
    await one.call(),
    await other.call(),
    await one.call({ target: "POST /signpost.v1.WorkspaceTokensService/Create", protocol: "grpc" }),
    await one.call({ idempotencyKey: "key-2" }),
  ];
  expect(answers.map((answer) => answer.ok && Reflect.get(answer.message, "accessToken"))).toEqual([
    "secret 1",
    "secret 2",
    "secret 3",
    "secret 4",
  ]);
  expect(runs()).toBe(4);
});

test("the same key with another request is refused with 422", async () => {
  const { call } = await newCaller();
  countRuns(async () => "x");
  await call();
  const reused = { error: { reason: "IDEMPOTENCY_KEY_REUSED", refusal: { httpStatus: 422 } } };
  expect(await call({}, { name: "another" })).toMatchObject(reused);
  expect(await call({ target: "POST /v1/workspace-tokens?x=1" })).toMatchObject(reused);
  expect(await call()).toMatchObject({ ok: true });
});

test("white space and the order of keys in a body do not change the request", async () => {
  handlers.update = async () => ({});
  const { rest, tokenId } = await first.newWorkspace();
  const patch = (body: string) =>
    rest("PATCH", `/v1/workspace-tokens/${tokenId}`, body, { "idempotency-key": "key" });
  expect((await patch('{"name":"x","updateMask":"name"}')).status).toBe(200);
  const { status, headers } = await patch('{ "updateMask": "name",\n "name": " x " }');
  expect([status, headers["idempotent-replayed"]]).toEqual([200, "true"]);
});

test("while the first call runs, a second one is told to try again, on every process", async () => {
  const { call, workspaceId } = await newCaller();
  const started = Promise.withResolvers<void>();
  const going = Promise.withResolvers<string>();
  const { runs } = countWaits(() => {
    started.resolve();
    return going.promise;
  });
  const running = call();
  await started.promise;
  expect(await call({ on: "second" })).toMatchObject({
    error: { code: "ABORTED", reason: "IDEMPOTENCY_IN_PROGRESS", refusal: { retryAfterSeconds: 1 } },
  });
  going.resolve("done");
  expect(await running).toMatchObject({ ok: true });
  expect(await call({ on: "second" })).toMatchObject({ message: { accessToken: "done" } });
  expect(runs()).toBe(1);
  expect(await effectsOf(workspaceId)).toEqual(["run-1"]);
});

test("a deterministic error is stored with its details, and its effects are undone", async () => {
  const { call, workspaceId } = await newCaller();
  const { runs } = countRuns(async () => {
    throw fail("ALREADY_EXISTS", "ID_TAKEN", "taken", { metadata: { id: "x" }, cause: new Error("inner") });
  });
  const stored = {
    error: {
      code: "ALREADY_EXISTS",
      reason: "ID_TAKEN",
      message: "taken",
      refusal: { metadata: { id: "x" } },
    },
  };
  expect(await call()).toMatchObject(stored);
  expect(await call()).toMatchObject({ ...stored, headers: { "idempotent-replayed": "true" } });
  expect(runs()).toBe(1);
  expect(await effectsOf(workspaceId)).toEqual([]);
});

test("a handler whose statement failed can still answer a deterministic error", async () => {
  const { call, workspaceId } = await newCaller();
  const { runs } = countRuns(async (_run, context) => {
    await effect(context, "run-1").catch(() => {});
    throw fail("ALREADY_EXISTS", "ID_TAKEN", "taken");
  });
  expect(await call()).toMatchObject({ error: { reason: "ID_TAKEN" } });
  expect(await call()).toMatchObject({ error: { reason: "ID_TAKEN" } });
  expect(runs()).toBe(1);
  expect(await effectsOf(workspaceId)).toEqual([]);
});

test("outcomes that a retry may change are not stored: 401, 403, 429, 5xx, lost races and bugs", async () => {
  const passing: [Code, Reason][] = [
    ["UNAUTHENTICATED", "UNAUTHENTICATED"],
    ["PERMISSION_DENIED", "PERMISSION_DENIED"],
    ["RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED"],
    ["ABORTED", "ABORTED"],
    ["UNAVAILABLE", "UNAVAILABLE"],
    ["UNIMPLEMENTED", "UNIMPLEMENTED"],
  ];
  const failures = [...passing.map(([code, reason]) => fail(code, reason, "not now")), new Error("bug")];
  for (const failure of failures) {
    const { call, workspaceId } = await newCaller();
    const { runs } = countRuns(async (run) => {
      if (run === 1) throw failure;
      return "second try";
    });
    expect(await call()).toMatchObject({ ok: false });
    expect(await call()).toMatchObject({ ok: true, message: { accessToken: "second try" } });
    expect(runs()).toBe(2);
    expect(await effectsOf(workspaceId)).toEqual(["run-2"]);
  }
});

test("a call that took too long leaves nothing, and its retry runs", async () => {
  const { call, workspaceId } = await newCaller();
  const ended = Promise.withResolvers<string>();
  const { runs } = countWaits(async (run) => (run === 1 ? ended.promise : "in time"));
  expect(await call({ timeoutMs: 300 })).toMatchObject({ error: { code: "DEADLINE_EXCEEDED" } });
  expect(await call()).toMatchObject({ error: { reason: "IDEMPOTENCY_IN_PROGRESS" } });
  ended.resolve("too late");
  let outcome = await call();
  while (!outcome.ok) outcome = await call();
  expect(outcome).toMatchObject({ message: { accessToken: "in time" } });
  expect(runs()).toBe(2);
  expect(await effectsOf(workspaceId)).toEqual(["run-2"]);
});

/** The pool may hand out a killed connection once more before it learns that the connection has ended. */
async function poolRecovered(): Promise<void> {
  for (let works = false; !works; ) {
    works = await first.database.pool.query("select").then(
      () => true,
      () => false,
    );
  }
}

test("a crash in the middle leaves neither record nor effect", async () => {
  const { call, workspaceId } = await newCaller();
  const { runs } = countRuns(async (run, { db }) => {
    if (run === 1) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(db);
    return "survived";
  });
  expect(await call()).toMatchObject({ error: { code: "UNAVAILABLE" } });
  await poolRecovered();
  expect(await effectsOf(workspaceId)).toEqual([]);
  expect(await call()).toMatchObject({ message: { accessToken: "survived" } });
  expect(runs()).toBe(2);
  expect(await effectsOf(workspaceId)).toEqual(["run-2"]);
});

test("a call that has run for a minute loses its key: the next call runs, and the first call's effects are undone", async () => {
  const { call, workspaceId } = await newCaller();
  const started = Promise.withResolvers<void>();
  const going = Promise.withResolvers<string>();
  const { runs } = countWaits(async (run) => {
    if (run > 1) return "the second";
    started.resolve();
    return going.promise;
  });
  const forgotten = call();
  await started.promise;
  first.clock.advance(59_000);
  expect(await call({ on: "second" })).toMatchObject({ error: { reason: "IDEMPOTENCY_IN_PROGRESS" } });
  first.clock.advance(2_000);
  expect(await call({ on: "second" })).toMatchObject({ message: { accessToken: "the second" } });
  going.resolve("the first");
  expect(await forgotten).toMatchObject({ error: { code: "ABORTED" } });
  expect(await call()).toMatchObject({ message: { accessToken: "the second" } });
  expect(runs()).toBe(2);
  expect(await effectsOf(workspaceId)).toEqual(["run-2"]);
});

test("a call that waits under a key holds no connection: more calls than connections may wait", async () => {
  const { call, workspaceId } = await newCaller();
  const going = Promise.withResolvers<string>();
  const all = Promise.withResolvers<void>();
  const count = 4 * testConnections;
  countWaits((run) => {
    if (run === count) all.resolve();
    return going.promise;
  });
  const waiting = Array.from({ length: count }, (_, index) => call({ idempotencyKey: `key-${index}` }));
  await all.promise;
  handlers.list = async (_request, { db }) => {
    await sql`select 1`.execute(db);
    return {};
  };
  const { rest } = await first.newWorkspace();
  expect((await rest("GET", "/v1/workspace-tokens")).status).toBe(200);
  going.resolve("done");
  for (const outcome of await Promise.all(waiting)) expect(outcome).toMatchObject({ ok: true });
  expect(await effectsOf(workspaceId)).toHaveLength(count);
});

test("a write whose data changed meanwhile is prepared anew, and nothing of the first try is stored", async () => {
  const { call } = await newCaller();
  let tries = 0;
  handlers.create = inTwoParts(async () => {
    tries += 1;
    const isLast = tries === 3;
    return async () => (isLast ? { accessToken: "the third" } : undefined);
  });
  expect(await call()).toMatchObject({ message: { accessToken: "the third" } });
  expect(await call()).toMatchObject({ message: { accessToken: "the third" } });
  expect(tries).toBe(3);
});

test("an outcome is kept for 24 hours, then its key is free and its record is deleted", async () => {
  const { call, workspaceId } = await newCaller();
  const { runs } = countRuns(async (run) => `secret ${run}`);
  const records = () =>
    first.db.selectFrom("idempotency_keys").select("key").where("workspace_id", "=", workspaceId).execute();
  await call();
  first.clock.advance(23.9 * 3_600_000);
  await deleteExpired(first.db, first.now());
  await call();
  expect(runs()).toBe(1);
  first.clock.advance(0.2 * 3_600_000);
  expect(await call()).toMatchObject({ message: { accessToken: "secret 2" } });
  expect(await records()).toHaveLength(1);
  first.clock.advance(24.1 * 3_600_000);
  expect(await deleteExpired(first.db, first.now())).toBeGreaterThan(0);
  expect(await records()).toHaveLength(0);
});

test("a stored answer with a secret is encrypted in the table, and bound to its key", async () => {
  const { call, workspaceId } = await newCaller();
  countRuns(async () => "a very secret token");
  await call();
  await call({ idempotencyKey: "key-2" });
  const stored = first.db.selectFrom("idempotency_keys").selectAll().where("workspace_id", "=", workspaceId);
  for (const { outcome } of await stored.execute()) {
    expect(outcome.toString("latin1")).not.toContain("secret");
    expect(outcome.toString("latin1")).not.toContain(
      Buffer.from("a very secret token").toString("base64").slice(4, 20),
    );
  }
  const { outcome } = await stored.where("key", "=", "key-1").executeTakeFirstOrThrow();
  await first.db
    .updateTable("idempotency_keys")
    .set({ outcome })
    .where("workspace_id", "=", workspaceId)
    .where("key", "=", "key-2")
    .execute();
  expect(await call({ idempotencyKey: "key-2" })).toMatchObject({ error: { code: "INTERNAL" } });
});

test("a key that is not 1 to 255 printable ASCII characters is refused", async () => {
  const { call } = await newCaller();
  countRuns(async () => "x");
  for (const idempotencyKey of ["", "x".repeat(256), "naïve", "tab\t", "nul\0"])
    expect(await call({ idempotencyKey })).toMatchObject({ error: { reason: "INVALID_IDEMPOTENCY_KEY" } });
  expect(await call({ idempotencyKey: "x".repeat(255) })).toMatchObject({ ok: true });
});

test("a key means nothing on GET and DELETE", async () => {
  const { rest } = await first.newWorkspace();
  let calls = 0;
  handlers.delete = handlers.list = async () => {
    calls += 1;
    return {};
  };
  const { id } = create(DeleteWorkspaceTokenRequestSchema, { id: newId(first.now()) });
  for (const key of ["same", "same", "naïve"]) {
    for (const [method, path] of [
      ["DELETE", `/v1/workspace-tokens/${id}`],
      ["GET", "/v1/workspace-tokens"],
    ] as const)
      expect((await rest(method, path, undefined, { "idempotency-key": key })).status).toBe(200);
  }
  expect(calls).toBe(6);
});

/** AccessService whose answers count its calls: a POST that reads, and a PUT. */
async function countingApi(text: (run: number) => string) {
  let runs = 0;
  const answer = async () => ({ text: text(++runs) });
  const api = await startApi({
    services: [registerPartly(AccessService, { read: answer, guard: answer, publish: answer })],
    database: first.database,
    clock: first.clock,
  });
  const { token } = await first.newWorkspace();
  return { api, rest: api.rest(token) };
}

test.each([
  ["POST", "/v1/access/read"],
  ["PUT", "/v1/access/guard"],
])("a key counts on %s %s", async (method, path) => {
  const { rest } = await countingApi((run) => `run ${run}`);
  const call = (body: object) => rest(method, path, body, { "idempotency-key": "key" });
  expect(await call({})).toMatchObject({ status: 200, json: { text: "run 1" } });
  const replay = await call({});
  expect(replay).toMatchObject({ json: { text: "run 1" }, headers: { "idempotent-replayed": "true" } });
  expect((await call({ text: "x", name: "x" })).status).toBe(422);
});

test("a large answer of a call that only reads is not stored, and its retry reads again", async () => {
  const { rest } = await countingApi((run) => `${run}`.repeat(300_000));
  const call = (path: string) => rest("POST", path, {}, { "idempotency-key": "key" });
  for (const digit of ["1", "2"])
    expect((await call("/v1/access/read")).json.text).toMatch(`${digit}${digit}`);
  for (const _ of ["call", "replay"]) expect((await call("/v1/access/publish")).json.text).toMatch("33");
});

test("a key of a publishable token, which many clients share, belongs to the client's address too", async () => {
  const { api } = await countingApi((run) => `run ${run}`);
  const at = first.now();
  const token = await first.signToken({
    tokenId: newId(at),
    workspaceId: newId(at),
    keyType: "PUBLISHABLE",
    environment: "live",
    scope: "",
    issuedAt: at,
  });
  const call = (clientAddress: string) =>
    api.invoke(
      AccessService.method.publish,
      () => create(AccessService.method.publish.input),
      newCall({ token, clientAddress, idempotencyKey: "key", target: "POST /v1/access/publish" }),
    );
  expect(await call("192.0.2.1")).toMatchObject({ message: { text: "run 1" } });
  expect(await call("192.0.2.2")).toMatchObject({ message: { text: "run 2" } });
  expect(await call("192.0.2.1")).toMatchObject({ message: { text: "run 1" } });
});
