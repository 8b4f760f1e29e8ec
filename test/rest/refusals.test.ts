import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { SpecimenSchema } from "../../gen/signpost/testing/v1/specimen_pb.js";
import { fail } from "../../src/lib/errors.ts";
import { echo, errorOf, refuseAll, serveSpecimens } from "./serve.ts";

const { ask } = await serveSpecimens(echo);

const json = { "content-type": "application/json" };
test.each([
  ["GET", "/v1/nobody", {}, "", 404, "NOT_FOUND"],
  ["GET", "/v1/specimens/", {}, "", 404, "NOT_FOUND"],
  ["OPTIONS", "/v1/specimens", {}, "", 405, "METHOD_NOT_ALLOWED"],
  ["POST", "/v1/specimens/7", {}, "", 405, "METHOD_NOT_ALLOWED"],
  ["POST", "/v1/specimens", { "content-type": "text/plain" }, "{}", 415, "UNSUPPORTED_MEDIA_TYPE"],
  ["POST", "/v1/specimens", { "content-type": "" }, "{}", 415, "UNSUPPORTED_MEDIA_TYPE"],
  [
    "POST",
    "/v1/specimens",
    { "content-type": "application/json; charset=latin1" },
    "{}",
    415,
    "UNSUPPORTED_MEDIA_TYPE",
  ],
  ["POST", "/v1/specimens", { "content-type": "application/jsonx" }, "{}", 415, "UNSUPPORTED_MEDIA_TYPE"],
  ["POST", "/v1/specimens", { ...json, "content-encoding": "br" }, "{}", 415, "UNSUPPORTED_MEDIA_TYPE"],
  ["POST", "/v1/specimens", { ...json, "content-encoding": "gzip" }, "{}", 400, "INVALID_ARGUMENT"],
  [
    "POST",
    "/v1/specimens",
    { "content-type": "application/merge-patch+json" },
    "{}",
    415,
    "UNSUPPORTED_MEDIA_TYPE",
  ],
  [
    "POST",
    "/v1/mirror",
    { "content-type": "image/png", "content-encoding": "br" },
    "{}",
    415,
    "UNSUPPORTED_MEDIA_TYPE",
  ],
  ["POST", "/v1/specimens", json, "{", 400, "INVALID_ARGUMENT"],
  ["POST", "/v1/specimens", json, "[]", 400, "INVALID_ARGUMENT"],
  ["POST", "/v1/specimens", json, '"x"', 400, "INVALID_ARGUMENT"],
  ["POST", "/v1/specimens", json, "{'id':1}", 400, "INVALID_ARGUMENT"],
  ["POST", "/v1/specimens", json, "\ufeff{}", 400, "INVALID_ARGUMENT"], // a byte order mark
  ["POST", "/v1/specimens", json, Buffer.from('{"id":"\xff"}', "latin1"), 400, "INVALID_ARGUMENT"], // not UTF-8
  ["POST", "/v1/specimens", json, '{"id":"\\ud800"}', 400, "INVALID_ARGUMENT"],
  ["POST", "/v1/specimens", json, "[".repeat(1_000_000), 400, "INVALID_ARGUMENT"],
  [
    "POST",
    "/v1/specimens",
    json,
    `${'{"child":'.repeat(10_000)}1${"}".repeat(10_000)}`,
    400,
    "INVALID_ARGUMENT",
  ],
  ["POST", "/v1/specimens/7:cancel", json, "x", 400, "INVALID_ARGUMENT"],
  ["POST", "/v1/specimens/batch", json, "{}", 400, "INVALID_ARGUMENT"],
  ["GET", "/v1/specimens?int32Value=x", {}, "", 400, "INVALID_ARGUMENT"],
] satisfies [string, string, Record<string, string>, string | Buffer, number, string][])(
  "%s %s with %j and %.40j is %i %i %s",
  async (method, path, headers, body, status, codeType) => {
    const answer = await ask(path, { method, headers, ...(body.length > 0 ? { body } : {}) });
    expect(answer.status).toBe(status);
    expect(errorOf(answer.json)).toMatchObject({ code: status, codeType });
    expect(answer.headers["x-request-id"]).toBe("new-request-id");
    expect(answer.headers["content-type"]).toBe("application/json");
  },
);

test.each(["application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"', "application/json;q=1"])(
  "%s is JSON",
  async (type) => {
    const answer = await ask("/v1/specimens", {
      method: "POST",
      headers: { "content-type": type },
      body: "{}",
    });
    expect(answer.status).toBe(200);
  },
);

test("405 lists the methods the path has, HEAD with GET", async () => {
  const { headers } = await ask("/v1/specimens/7", { method: "POST" });
  expect(headers.allow).toBe("DELETE, GET, HEAD, PATCH, PUT");
});

test("every bad field of body and path is a violation under its JSON path", async () => {
  const body = '{"id":1,"children":[{},{"display_name":2}]}';
  const { json: refused } = await ask("/v1/specimens", { method: "POST", body });
  expect(errorOf(refused)).toEqual({
    code: 400,
    codeType: "INVALID_ARGUMENT",
    message: "id: must be a string (and 1 more)",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "INVALID_ARGUMENT",
        domain: "signpost",
        metadata: {},
      },
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [
          { field: "id", description: "must be a string" },
          { field: "children[1].displayName", description: "must be a string" },
        ],
      },
    ],
  });
});

test("a refusal before the method is known carries the caller's rate-limit headers", async () => {
  const limitsOf = (address: string) => ({ ratelimit: `"default";r=9;t=1`, "x-address": address });
  const limited = await serveSpecimens(echo, { limitsOf });
  const refused = [
    await limited.ask("/v1/nobody"),
    await limited.ask("/v1/specimens/7", { method: "POST" }),
    await limited.ask("/v1/specimens", {
      method: "POST",
      body: "x",
      headers: { "content-type": "text/plain" },
    }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([404, 405, 415]);
  for (const { headers } of refused)
    expect(headers).toMatchObject({ ratelimit: `"default";r=9;t=1`, "x-address": "192.0.2.1" });
});

test("a refusal with a delay says so in RetryInfo and Retry-After", async () => {
  const limited = await serveSpecimens(refuseAll);
  const { status, headers, json: refused } = await limited.ask("/v1/specimens/7");
  expect(status).toBe(429);
  expect(headers["retry-after"]).toBe("3");
  expect(errorOf(refused).details).toContainEqual({
    "@type": "type.googleapis.com/google.rpc.RetryInfo",
    retryDelay: "3s",
  });
});

test.each([
  ["CANCELLED", 499],
  ["UNKNOWN", 500],
  ["INVALID_ARGUMENT", 400],
  ["DEADLINE_EXCEEDED", 504],
  ["NOT_FOUND", 404],
  ["ALREADY_EXISTS", 409],
  ["PERMISSION_DENIED", 403],
  ["RESOURCE_EXHAUSTED", 429],
  ["FAILED_PRECONDITION", 412],
  ["ABORTED", 409],
  ["OUT_OF_RANGE", 400],
  ["UNIMPLEMENTED", 501],
  ["INTERNAL", 500],
  ["UNAVAILABLE", 503],
  ["DATA_LOSS", 500],
  ["UNAUTHENTICATED", 401],
] as const)("%s is sent as HTTP %i", async (code, status) => {
  const failing = await serveSpecimens(() => {
    throw fail(code, code, "no", { headers: { "www-authenticate": "Bearer" } });
  });
  const answer = await failing.ask("/v1/specimens/7");
  expect([answer.status, answer.headers["www-authenticate"]]).toEqual([status, "Bearer"]);
  expect(errorOf(answer.json)).toMatchObject({ code: status, codeType: code, message: "no" });
});

test("a refusal may have its own HTTP status, and facts for programs", async () => {
  const failing = await serveSpecimens(() => {
    throw fail("FAILED_PRECONDITION", "IDEMPOTENCY_KEY_REUSED", "no", {
      httpStatus: 422,
      metadata: { a: "b" },
    });
  });
  const answer = await failing.ask("/v1/specimens/7");
  expect(answer.status).toBe(422);
  expect(errorOf(answer.json)).toMatchObject({ code: 422, details: [{ metadata: { a: "b" } }] });
});

test("a bug of ours is INTERNAL without its message, and is reported under the request id", async () => {
  const faults: unknown[] = [];
  const broken = await serveSpecimens(
    () => {
      throw new Error("secret of the database");
    },
    { onFault: (error, requestId) => faults.push([String(error), requestId]) },
  );
  const answer = await broken.ask("/v1/specimens/7", { headers: { "x-request-id": "mine_1-2" } });
  expect([answer.status, answer.headers["x-request-id"]]).toEqual([500, "mine_1-2"]);
  expect(errorOf(answer.json)).toMatchObject({ codeType: "INTERNAL", message: "internal error" });
  expect(faults).toEqual([["Error: secret of the database", "mine_1-2"]]);
});

test("a message that breaks its schema is INTERNAL too", async () => {
  const broken = await serveSpecimens(() => create(SpecimenSchema, { createdAt: { seconds: 2n ** 62n } }));
  expect((await broken.ask("/v1/specimens/7")).status).toBe(500);
});

test("a body is never parsed before the pipeline asks for it", async () => {
  const strict = await serveSpecimens(echo, {
    invoke: async () => ({
      ok: false,
      error: fail("UNAUTHENTICATED", "UNAUTHENTICATED", "no token"),
      headers: {},
    }),
  });
  expect((await strict.ask("/v1/specimens", { method: "POST", body: "{" })).status).toBe(401);
  expect((await strict.ask("/v1/specimens/%zz")).status).toBe(401);
  expect((await strict.ask("/v1/specimens", { method: "PATCH" })).status).toBe(405);
});
