import { readFile } from "node:fs/promises";
import http from "node:http";
import http2 from "node:http2";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "vitest";
import { startService } from "./support/start-service.ts";

const service = await startService({
  env: {
    BASE_URL: "https://api.example",
    SHORT_URL: "https://go.example",
    TRUSTED_PROXIES: "127.0.0.1",
    HSTS_MAX_AGE: "600",
  },
});
afterAll(() => service.stop());

const bearer = `Bearer ${service.credentials.accessToken}`;
const list = "/signpost.v1.LinksService/List";
const check = "/grpc.health.v1.Health/Check";

interface Reply {
  readonly status: number | undefined;
  readonly grpcStatus: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
}

/** Sends an empty gRPC message over HTTP/2. */
async function grpc(authority: string, path: string): Promise<Reply> {
  const session = http2.connect(`http://127.0.0.1:${service.port}`).on("error", () => {});
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    ":authority": authority,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: bearer,
  });
  let head: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
  let trailers: http2.IncomingHttpHeaders = {};
  stream.on("error", () => {});
  stream.on("response", (received) => {
    head = received;
  });
  stream.on("trailers", (received) => {
    trailers = received;
  });
  stream.end(Buffer.alloc(5));
  await text(stream);
  session.destroy();
  const said = trailers["grpc-status"] ?? head["grpc-status"];
  return { status: head[":status"], grpcStatus: said?.toString(), headers: head };
}

async function connect(host: string, path: string, headers: http.OutgoingHttpHeaders = {}): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const sent = { host, "content-type": "application/json", authorization: bearer, ...headers };
  const req = http.request({ port: service.port, host: "127.0.0.1", method: "POST", path, headers: sent });
  req.on("error", reject).on("response", (res) => {
    res.resume();
    resolve({ status: res.statusCode, grpcStatus: undefined, headers: res.headers });
  });
  req.end("{}");
  return promise;
}

describe("RPC is answered only on the API's host", () => {
  test("over gRPC", async () => {
    expect((await grpc("api.example", list)).grpcStatus).toBe("0");
    for (const host of ["evil.example", "go.example", `127.0.0.1:${service.port}`]) {
      const { status, grpcStatus } = await grpc(host, list);
      expect([host, status === 200, grpcStatus]).toEqual([host, false, undefined]);
    }
  });

  test("over Connect", async () => {
    expect((await connect("api.example", list)).status).toBe(200);
    for (const host of ["evil.example", "go.example"])
      expect((await connect(host, list)).status).not.toBe(200);
  });

  test("except for health, which answers on every host", async () => {
    for (const host of ["api.example", "evil.example", `127.0.0.1:${service.port}`]) {
      expect((await grpc(host, check)).grpcStatus).toBe("0");
      expect((await connect(host, check)).status).toBe(200);
    }
  });
});

test("metrics are on a separate port, which serves nothing else", async () => {
  for (const host of ["api.example", "go.example", `127.0.0.1:${service.port}`])
    expect((await connect(host, "/metrics")).status).not.toBe(200);
  expect(await (await fetch(service.metricsUrl)).text()).toContain("process_cpu_seconds_total");
  expect((await fetch(new URL("/v1/links", service.metricsUrl))).status).toBe(404);
});

describe("Strict-Transport-Security is sent", () => {
  const tls = { "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https" };
  const said = async (host: string, path: string, headers = {}) =>
    (await connect(host, path, headers)).headers["strict-transport-security"];

  test("by the service's own hosts, whatever the answer", async () => {
    for (const path of ["/v1/links", list, "/nothing"])
      expect(await said("api.example", path, tls)).toBe("max-age=600");
    expect(await said("go.example", "/nothing", tls)).toBe("max-age=600");
  });

  test("neither on other hosts nor without TLS", async () => {
    expect(await said("links.customer.example", "/nothing", tls)).toBeUndefined();
    expect(await said("api.example", "/v1/links")).toBeUndefined();
  });
});

test("the output of a first start outside of a terminal contains no secret", async () => {
  const { accessToken, password } = JSON.parse(await readFile(`${service.dataDir}/credentials.json`, "utf8"));
  expect(service.stdout()).toContain("credentials.json");
  expect(service.stdout()).not.toContain(accessToken);
  expect(service.stdout()).not.toContain(password);
});
