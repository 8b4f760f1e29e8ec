import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { createOriginReader } from "../lib/client-address.ts";
import { connectionOf } from "./connection.ts";
import { dispatch } from "./dispatch.ts";
import { type Handler, listen, type PortListener } from "./listen.ts";
import { createRoute } from "./route.ts";

const readOrigin = createOriginReader([]);
let listener: PortListener | undefined;
afterEach(() => listener?.close(0));

async function start(): Promise<number> {
  const route = createRoute({
    baseUrl: new URL("https://api.example.com"),
    shortUrl: new URL("https://go.example"),
    authUrl: new URL("https://api.example.com/auth"),
    mcpUrl: new URL("https://api.example.com/mcp"),
    services: ["signpost.v1.LinksService"],
  });
  const say =
    (name: string): Handler =>
    (req, res) =>
      res.end(`${name} ${req.url}`);
  const handlers = {
    rpc: say("rpc"),
    rest: say("rest"),
    discovery: say("discovery"),
    mcp: say("mcp"),
    "mcp-metadata": say("mcp-metadata"),
    auth: say("auth"),
    operation: say("operation"),
    file: say("file"),
    font: say("font"),
    scan: say("scan"),
  };
  const handler = dispatch({ route, handlers, originOf: (req) => readOrigin(connectionOf(req)) });
  listener = await listen({ host: "127.0.0.1", port: 0, handler, log: pino({ level: "silent" }) });
  return listener.port;
}

async function get(port: number, host: string, path: string, headers: http.OutgoingHttpHeaders = {}) {
  const request = http.get({ port, host: "127.0.0.1", path, headers: { host, ...headers }, agent: false });
  const [response] = await once(request, "response");
  return { status: response.statusCode, body: await text(response) };
}

test("hands each request to the part that answers it", async () => {
  const port = await start();
  expect(await get(port, "api.example.com", "/v1/links?a=b")).toEqual({
    status: 200,
    body: "rest /v1/links?a=b",
  });
  expect((await get(port, "go.example", "/4BnH-R19p?qr")).body).toBe("scan /4BnH-R19p?qr");
  expect((await get(port, "api.example.com", "/signpost.v1.LinksService/Get")).body).toMatch("rpc");
  expect((await get(port, "api.example.com", "/openapi.json")).body).toMatch("discovery");
  expect((await get(port, "api.example.com", "/auth/sign-in?done=x")).body).toBe("auth /auth/sign-in?done=x");
  expect(await get(port, "api.example.com", "/4BnH-R19p")).toEqual({ status: 404, body: "Not found\n" });
});

test("prefers the host of a whole URL to the Host header, and hands on only the path", async () => {
  const port = await start();
  expect((await get(port, "api.example.com", "http://go.example/v1/links?a=b")).body).toBe(
    "scan /v1/links?a=b",
  );
  expect((await get(port, "go.example", "http://api.example.com/nothing")).status).toBe(404);
});

test("asks for a body that waits for 100 Continue", async () => {
  const port = await start();
  const headers = { expect: "100-continue", host: "go.example", "content-length": 4 };
  const request = http.request({
    port,
    host: "127.0.0.1",
    method: "POST",
    path: "/a",
    headers,
    agent: false,
  });
  request.flushHeaders();
  const answer = once(request, "response");
  await once(request, "continue");
  request.end("body");
  expect((await answer)[0].statusCode).toBe(200);
});

test("routes HTTP/2 by its authority", async () => {
  const port = await start();
  const client = http2.connect(`http://127.0.0.1:${port}`);
  const request = client.request({
    ":path": "/v1/links",
    ":authority": "api.example.com",
    host: "go.example",
  });
  expect(await text(request)).toBe("rest /v1/links");
  client.destroy();
});
