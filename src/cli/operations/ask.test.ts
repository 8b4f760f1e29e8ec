import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { main } from "../main-line.ts";
import { createAsk } from "./ask.ts";

/** An answer of a stand-in service, which gives answers that the real one cannot be made to give. */
interface Scripted {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

/** Serves the answers one after the other, and then repeats the last one. */
async function serve(...answers: Scripted[]): Promise<{ baseUrl: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    const {
      status = 200,
      headers = {},
      body,
    } = answers[Math.min(requests.length, answers.length - 1)] ?? { body: {} };
    requests.push(req);
    res.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closings.push(() => server.close());
  // The address of a server on a port has this type.
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function refusal(
  status: number,
  codeType: string,
  headers: Record<string, string> = {},
  details: object[] = [],
): Scripted {
  return { status, headers, body: { error: { code: status, codeType, message: "no", details } } };
}

async function run(baseUrl: string, ...args: string[]) {
  const printed = { stdout: "", stderr: "" };
  const exitCode = await main(args, {
    env: { SIGNPOST_URL: baseUrl, SIGNPOST_TOKEN: "t", XDG_CONFIG_HOME: "/nonexistent" },
    width: 100,
    write: (text) => {
      printed.stdout += text;
    },
    report: (text) => {
      printed.stderr += `${text}\n`;
    },
  });
  return { exitCode, ...printed };
}

const now = { "retry-after": "0" };

test("a call is repeated with the same key while the service says when to come back", async () => {
  const { baseUrl, requests } = await serve(
    refusal(503, "UNAVAILABLE", now),
    refusal(429, "RATE_LIMITED", now),
    { body: { tag: {} } },
  );
  expect(await run(baseUrl, "links", "create", "--destination=https://a", "--json")).toMatchObject({
    exitCode: 0,
  });
  const keys = requests.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toHaveLength(3);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(new Set(keys).size).toBe(1);
});

test("a reading call carries no key, and a given key is used", async () => {
  const { baseUrl, requests } = await serve({ body: {} });
  await run(baseUrl, "tags", "list");
  await run(baseUrl, "tags", "delete", "--name=x", "--idempotency-key=mine");
  expect(requests.map(({ headers }) => headers["idempotency-key"])).toEqual([undefined, "mine"]);
});

test("the command gives up after a few tries, and at once when the wait is long or unknown", async () => {
  for (const [headers, tries] of [
    [now, 4],
    [{ "retry-after": "86400" }, 1],
    [{}, 1],
  ] as const) {
    const { baseUrl, requests } = await serve(refusal(429, "RATE_LIMITED", headers));
    expect(await run(baseUrl, "tags", "list")).toMatchObject({ exitCode: 6 });
    expect(requests).toHaveLength(tries);
  }
});

test.each([
  [400, 2],
  [401, 3],
  [403, 3],
  [404, 4],
  [409, 5],
  [412, 5],
  [422, 5],
  [429, 6],
  [500, 1],
  [501, 1],
  [503, 7],
  [504, 7],
])("a refusal with status %i ends with exit code %i", async (status, exitCode) => {
  const { baseUrl } = await serve(refusal(status, "A_REASON"));
  expect(await run(baseUrl, "tags", "list")).toMatchObject({ exitCode, stdout: "" });
});

test("a refusal shows its reason, each bad field by its flag, further facts and the request id", async () => {
  const details = [
    { fieldViolations: [{ field: "payload.clientRedirect.destination", description: "is \u001b[31mwrong" }] },
    { metadata: { scope: "workflows:write" } },
  ];
  const { baseUrl } = await serve(refusal(400, "INVALID_DESTINATION", { "x-request-id": "r-1" }, details));
  const { stderr } = await run(baseUrl, "workflow-steps", "create", "x", "--event-action", "client-redirect");
  expect(stderr).toBe(`signpost: INVALID_DESTINATION: no
  --payload.client-redirect.destination is  [31mwrong
  scope: workflows:write
  request id: r-1
`);
});

test("answers of another kind of server are recognised, and redirects are not followed", async () => {
  const { baseUrl, requests } = await serve({ status: 302, headers: { location: "/v1/other" }, body: {} });
  const { exitCode, stderr } = await run(baseUrl, "tags", "list");
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("HTTP 302") });
  expect(requests).toHaveLength(1);
});

test("an unreachable address is exit code 7", async () => {
  const { baseUrl } = await serve({ body: {} });
  for (const close of closings.splice(0)) close();
  await expect(
    createAsk({ baseUrl, accessToken: undefined })({ httpMethod: "GET", target: "/", body: undefined }),
  ).rejects.toMatchObject({
    refusal: { reason: "UNREACHABLE", exitCode: 7 },
  });
});

test("--watch waits for a job, with its state on the error output and its result on the standard output", async () => {
  const job = (status: string) => ({ id: "j", status, itemCount: 2 });
  const completedAt = "2025-03-01T00:00:00Z";
  const { baseUrl, requests } = await serve(
    { body: job("JOB_STATUS_PENDING"), headers: now },
    { body: job("JOB_STATUS_RUNNING"), headers: now },
    { body: job("JOB_STATUS_RUNNING"), headers: now },
    { body: { ...job("JOB_STATUS_SUCCEEDED"), completedAt } },
  );
  const { exitCode, stdout, stderr } = await run(
    baseUrl,
    "links",
    "create-bulk-job",
    '--links=[{"destination":"https://a"},{"destination":"https://b"}]',
    "--watch",
  );
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^status +SUCCEEDED$/m);
  expect(stderr).toBe("PENDING\nRUNNING\n");
  expect(requests.slice(1).map(({ method, url }) => `${method} ${url}`)).toEqual(
    Array(3).fill("GET /v1/jobs/j"),
  );
});

test("a job that failed ends with exit code 1 and its error", async () => {
  const error = { codeType: "SHORTLINK_TAKEN", message: "links[1].shortlink: is taken" };
  const { baseUrl } = await serve({
    body: { id: "j", status: "JOB_STATUS_FAILED", completedAt: "x", error },
  });
  const { exitCode, stdout, stderr } = await run(baseUrl, "jobs", "get", "j", "--watch", "--json");
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ status: "JOB_STATUS_FAILED" });
  expect(stderr).toContain("SHORTLINK_TAKEN");
});
