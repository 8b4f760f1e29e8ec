import { deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { SpecimensService } from "../../gen/signpost/testing/v1/specimens_service_pb.js";
import { fail } from "../../src/lib/errors.ts";
import type { Call } from "../../src/rpc/call.ts";
import { echo, invokeWith, serveSpecimens } from "./serve.ts";

const { ask } = await serveSpecimens(echo);

test("a call without a body is answered with every default", async () => {
  const { status, json, headers } = await ask("/v1/specimens/7");
  expect(status).toBe(200);
  expect(json).toMatchObject({
    id: "7",
    displayName: "",
    int64Value: "0",
    color: "COLOR_UNSPECIFIED",
    tags: [],
  });
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": "new-request-id",
  });
});

test.each([
  ["POST", "/v1/specimens", '{"id":"7","color":"COLOR_RED"}', { id: "7", color: "COLOR_RED" }],
  ["POST", "/v1/specimens", "", { id: "" }],
  ["POST", "/v1/specimens", "{}", { id: "" }],
  ["POST", "/v1/specimens", "null", { id: "" }],
  ["POST", "/v1/specimens", ' {"id" : "7"}\n', { id: "7" }],
  ["POST", "/v1/specimens/images:resolve", '{"id":"7"}', { id: "7" }],
  ["POST", "/v1/specimens/7:cancel", "", {}],
  ["POST", "/v1/specimens/7:cancel", "{}", {}],
  ["POST", "/v1/specimens/7:cancel", '{"nobody":1}', {}],
  ["DELETE", "/v1/specimens/7", "", {}],
  ["GET", "/v1/shelves/1/books/2", "", "shelves/1/books/2"],
  ["POST", "/v1/specimens/batch?dryRun=true", '[{"id":"1"},{"id":"2"}]', [{ id: "1" }, { id: "2" }]],
  ["POST", "/v1/specimens/batch", "", []],
  [
    "PUT",
    "/v1/specimens/7?force=true",
    '{"id":"8","displayName":"x"}',
    { specimen: { id: "7", displayName: "x" }, force: true },
  ],
  ["PUT", "/v1/specimens/7", "", { specimen: { id: "7" }, updateMask: "" }],
])("%s %s with %j", async (method, path, body, expected) => {
  const { status, json } = await ask(path, { method, body });
  expect(status).toBe(200);
  if (typeof expected === "string") expect(json).toBe(expected);
  else expect(json).toMatchObject(expected);
});

test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
])("a body in %s is read as any other", async (coding, pack) => {
  const headers = { "content-encoding": coding, "content-type": "application/json" };
  const body = pack(JSON.stringify({ id: "7", displayName: "x".repeat(10_000) }));
  const { status, json } = await ask("/v1/specimens", { method: "POST", headers, body });
  expect(status).toBe(200);
  expect(json).toMatchObject({ id: "7", displayName: "x".repeat(10_000) });
});

test("a body that exceeds the limit after decompression is refused like a large one", async () => {
  const headers = { "content-encoding": "gzip", "content-type": "application/json" };
  const body = gzipSync(Buffer.alloc(9 * 1024 * 1024, " "));
  expect(body.length).toBeLessThan(10_000);
  const { status, json } = await ask("/v1/specimens", { method: "POST", headers, body });
  expect(status).toBe(413);
  expect(json).toMatchObject({ error: { codeType: "REQUEST_TOO_LARGE" } });
});

test("a refused caller's body is never decompressed", async () => {
  const strict = await serveSpecimens(echo, {
    invoke: async () => ({ ok: false, error: fail("UNAUTHENTICATED", "UNAUTHENTICATED", "no"), headers: {} }),
  });
  const headers = { "content-encoding": "gzip", "content-type": "application/json" };
  expect((await strict.ask("/v1/specimens", { method: "POST", headers, body: "no gzip" })).status).toBe(401);
});

test("a PATCH may declare its body as a merge patch", async () => {
  const headers = { "content-type": "application/merge-patch+json; charset=utf-8" };
  const { status, json } = await ask("/v1/specimens/7", {
    method: "PATCH",
    headers,
    body: '{"displayName":"x"}',
  });
  expect(status).toBe(200);
  expect(json).toMatchObject({ request: { updateMask: "displayName" } });
});

test.each([
  ['{"displayName":"x","count":0,"tags":[]}', "displayName,count,tags"],
  ['{"display_name":"x","count":null,"nobody":1}', "displayName"],
  ['{"id":"8","color":"COLOR_UNSPECIFIED","child":{"id":"1"}}', "child"], // neither the path's field nor the absent one
  ["{}", ""],
  ["", ""],
  ['{"displayName":"x","updateMask":"count,tags"}', "count,tags"], // the caller's own mask wins
  ['{"displayName":"x","updateMask":""}', "displayName"],
])("PATCH with %j has the mask %j", async (body, mask) => {
  const { json } = await ask("/v1/specimens/7", { method: "PATCH", body });
  expect(json).toMatchObject({ request: { id: "7", updateMask: mask } });
});

test("PUT of a field has a mask relative to it, and a mask in the query wins", async () => {
  const body = '{"id":"8","displayName":"x","tags":null}';
  const derived = await ask("/v1/specimens/7", { method: "PUT", body });
  expect(derived.json).toMatchObject({ updateMask: "displayName" });
  const given = await ask("/v1/specimens/7?updateMask=color", { method: "PUT", body });
  expect(given.json).toMatchObject({ updateMask: "color" });
});

test("bytes are sent and received with their media type", async () => {
  const body = Buffer.from([0, 255, 10]);
  const headers = { "content-type": "image/png" };
  const mirrored = await ask("/v1/mirror", { method: "POST", headers, body });
  expect(mirrored.headers["content-type"]).toBe("image/png");
  expect(mirrored.bytes).toEqual(body);
  const uploaded = await ask("/v1/files/a/b", { method: "POST", headers, body });
  expect(uploaded.json).toMatchObject({ path: "a/b", content: { contentType: "image/png", data: "AP8K" } });
  expect((await ask("/v1/files/a/b")).text).toBe("a/b");
  expect((await ask("/v1/mirror", { method: "POST" })).headers["content-type"]).toBe(
    "application/octet-stream",
  );
});

test("HEAD is answered like GET, without the body", async () => {
  const got = await ask("/v1/specimens/7");
  const head = await ask("/v1/specimens/7", { method: "HEAD" });
  expect(head.status).toBe(200);
  expect(head.text).toBe("");
  expect(head.headers["content-length"]).toBe(got.headers["content-length"]);
  expect((await ask("/v1/nobody", { method: "HEAD" })).status).toBe(404);
});

test("the caller's request id is reused when it is well-formed", async () => {
  const idOf = async (given: string) =>
    (await ask("/v1/specimens/7", { headers: { "x-request-id": given } })).headers["x-request-id"];
  expect(await idOf("A-z_9".padEnd(128, "x"))).toBe("A-z_9".padEnd(128, "x"));
  expect(await idOf("x".repeat(129))).toBe("new-request-id");
  expect(await idOf("a b")).toBe("new-request-id");
});

test("the pipeline receives the call's headers", async () => {
  const calls: Call[] = [];
  const watching = await serveSpecimens((request, rpc, call) => {
    calls.push(call);
    return echo(request, rpc, call);
  });
  await watching.ask("/v1/specimens/7?include=a", {
    headers: { authorization: "Bearer t", "idempotency-key": "k", "x-request-id": "r" },
  });
  expect(calls[0]).toMatchObject({
    protocol: "rest",
    requestId: "r",
    authorization: "Bearer t",
    idempotencyKey: "k",
    target: "GET /v1/specimens/7?include=a",
    clientAddress: "192.0.2.1",
    timeoutMs: undefined,
  });
  expect(calls[0]?.signal.aborted).toBe(false);
});

test("the pipeline's headers win, and a method may have another success status", async () => {
  const created = await serveSpecimens(echo, {
    invoke: invokeWith(echo, {
      location: "/v1/jobs/1",
      "cache-control": "max-age=5",
      "x-request-id": "theirs",
    }),
    successStatusOf: (method) => (method === SpecimensService.method.create ? 202 : undefined),
  });
  const answer = await created.ask("/v1/specimens", { method: "POST", body: "{}" });
  expect(answer.status).toBe(202);
  expect(answer.headers).toMatchObject({
    location: "/v1/jobs/1",
    "cache-control": "max-age=5",
    "x-request-id": "theirs",
  });
  expect((await created.ask("/v1/specimens/7")).status).toBe(200);
});
