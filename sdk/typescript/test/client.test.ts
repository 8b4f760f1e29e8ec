import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, items, pages, SignpostError } from "signpost-client";

interface Sent {
  readonly path: string;
  readonly headers: Headers;
}

// Errors are JSON, as Connect's always are; successes are empty messages.
function answering(...answers: (Response | Error)[]): { sent: Sent[]; fetch: typeof globalThis.fetch } {
  const sent: Sent[] = [];
  return {
    sent,
    fetch: (url, init) => {
      sent.push({ path: new URL(String(url)).pathname, headers: new Headers(init?.headers) });
      const answer = answers[sent.length - 1] ?? ok();
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
}

function ok(): Response {
  return new Response(new Uint8Array(), { headers: { "content-type": "application/proto" } });
}

function refusal(code: string, status: number, details: object[] = []): Response {
  return Response.json({ code, message: "not now", details }, { status });
}

// A google.rpc.RetryInfo{retry_delay{seconds}} in bytes: field 1 of 2 bytes, with its own field 1 as a varint.
function retryInfo(seconds: number): object {
  return { type: "google.rpc.RetryInfo", value: Buffer.from([10, 2, 8, seconds]).toString("base64") };
}

function client(fetch: typeof globalThis.fetch, waited: number[] = []) {
  const wait = (ms: number) => {
    waited.push(ms);
    return Promise.resolve();
  };
  return createClient("https://signpost.example", "secret", { fetch, wait });
}

test("a call carries the token", async () => {
  const { sent, fetch } = answering();
  await client(fetch).links.list({});
  assert.equal(sent[0]?.headers.get("authorization"), "Bearer secret");
});

test("a stream carries the token", async () => {
  const { sent, fetch } = answering(new TypeError("fetch failed"));
  const parts = client(fetch).assistant.streamMessage({})[Symbol.asyncIterator]();
  await assert.rejects(parts.next());
  assert.equal(sent[0]?.headers.get("authorization"), "Bearer secret");
});

test("a client without a token sends none", async () => {
  const { sent, fetch } = answering();
  await createClient("https://signpost.example", "", { fetch }).pricing.listPlans({});
  assert.equal(sent[0]?.headers.get("authorization"), null);
});

test("a writing call keeps its idempotency key through its retries, and two calls have two", async () => {
  const { sent, fetch } = answering(refusal("unavailable", 503), new TypeError("fetch failed"), ok());
  const { links } = client(fetch);
  await links.create({ destination: "https://example.com" });
  await links.create({ destination: "https://example.com" });
  const keys = sent.map(({ headers }) => headers.get("idempotency-key"));
  assert.equal(keys.length, 4);
  assert.equal(new Set(keys.slice(0, 3)).size, 1);
  assert.match(keys[0] ?? "", /^[0-9a-f-]{36}$/);
  assert.notEqual(keys[3], keys[0]);
});

test("calls that read or are declared idempotent have no key", async () => {
  const { sent, fetch } = answering();
  const { links } = client(fetch);
  await links.list({});
  await links.delete({ id: "x" });
  assert.deepEqual(
    sent.map(({ headers }) => headers.get("idempotency-key")),
    [null, null],
  );
});

test("a call over a limit is repeated after the wait that the service asks for", async () => {
  const waited: number[] = [];
  const { sent, fetch } = answering(refusal("resource_exhausted", 429, [retryInfo(3)]));
  await client(fetch, waited).links.list({});
  assert.equal(sent.length, 2);
  assert(waited[0] !== undefined && waited[0] >= 3000 && waited[0] <= 3200);
});

test("a call over a limit without a retry delay fails at once", async () => {
  for (const details of [[], [retryInfo(60)]]) {
    const { sent, fetch } = answering(refusal("resource_exhausted", 429, details));
    await assert.rejects(client(fetch).links.list({}), { code: "RESOURCE_EXHAUSTED" });
    assert.equal(sent.length, 1);
  }
});

test("a refused call is not tried again", async () => {
  const { sent, fetch } = answering(refusal("invalid_argument", 400));
  await assert.rejects(client(fetch).links.create({}), {
    code: "INVALID_ARGUMENT",
    reason: "INVALID_ARGUMENT",
  });
  assert.equal(sent.length, 1);
});

test("a call to an unreachable service fails after four tries, with a longer wait before each", async () => {
  const waited: number[] = [];
  const { sent, fetch } = answering(...Array.from({ length: 4 }, () => refusal("unavailable", 503)));
  const error = await client(fetch, waited)
    .links.list({})
    .catch((thrown: unknown) => thrown);
  assert(error instanceof SignpostError);
  assert.equal(error.code, "UNAVAILABLE");
  assert.equal(error.requestId, sent[0]?.headers.get("x-request-id"));
  assert.equal(sent.length, 4);
  assert.deepEqual(
    waited.map((ms) => [200, 400, 800].findIndex((most) => ms >= most / 2 && ms <= most)),
    [0, 1, 2],
  );
});

test("a call that is given up while it waits is cancelled", async () => {
  const controller = new AbortController();
  const { fetch } = answering(refusal("unavailable", 503));
  const wait = () => {
    controller.abort();
    return Promise.reject(controller.signal.reason);
  };
  const { links } = createClient("https://signpost.example", "secret", { fetch, wait });
  await assert.rejects(links.list({}, { signal: controller.signal }), { code: "CANCELLED" });
});

test("no try starts after the call's timeout", async () => {
  const { sent, fetch } = answering(refusal("unavailable", 503));
  await assert.rejects(client(fetch).links.list({}, { timeoutMs: 50 }), { code: "UNAVAILABLE" });
  assert.equal(sent.length, 1);
});

test("pages follow the cursor to the end, even if it is in the answer's json or csv part", async () => {
  const asked: (string | undefined)[] = [];
  const list = (request: { pageToken?: string }) => {
    asked.push(request.pageToken);
    const last = asked.length === 3;
    return Promise.resolve({
      json: { events: [asked.length], nextPageToken: last ? "" : `after ${asked.length}` },
    });
  };
  const events = [];
  for await (const event of items(list, {}, (page) => page.json.events)) events.push(event);
  assert.deepEqual(events, [1, 2, 3]);
  assert.deepEqual(asked, ["", "after 1", "after 2"]);
});

test("paging stops calling when the reader stops", async () => {
  let calls = 0;
  const list = () => Promise.resolve({ nextPageToken: String(++calls) });
  for await (const page of pages(list, {})) if (page.nextPageToken === "2") break;
  assert.equal(calls, 2);
});
