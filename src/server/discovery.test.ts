import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseTarget, targetUrl } from "../model/links/redirect-target.ts";
import { acceptedEncoding } from "./compressed.ts";
import { discoveryHandler, discoveryPaths } from "./discovery.ts";

const handler = discoveryHandler({
  baseUrl: "https://api.example.com",
  authUrl: "https://auth.example.com",
  scopes: ["links:write", "links:read"],
  agents: {
    mcpUrl: "https://api.example.com/mcp",
    preClaimScope: "links:read",
    postClaimScope: "links:write media:write",
  },
});
let server: Server;
let origin: string;
beforeAll(async () => {
  server = createServer((req, res) => void handler(req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server's address is an AddressInfo
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const plain = { "accept-encoding": "identity" };

describe.each(discoveryPaths)("%s", (path) => {
  test("has a strong entity tag, and answers 304 to a client that has it", async () => {
    const first = await fetch(origin + path, { headers: plain });
    const etag = first.headers.get("etag") ?? "";
    expect(first.status).toBe(200);
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    expect(first.headers.get("cache-control")).toBe("public, max-age=300");
    const again = await fetch(origin + path, { headers: { ...plain, "if-none-match": `"other", ${etag}` } });
    expect(again.status).toBe(304);
    expect(again.headers.get("etag")).toBe(etag);
    expect(await again.text()).toBe("");
  });

  test("answers HEAD as GET, without the body", async () => {
    const get = await fetch(origin + path, { headers: plain });
    const head = await fetch(origin + path, { method: "HEAD", headers: plain });
    expect(head.status).toBe(200);
    expect(head.headers.get("content-length")).toBe(String((await get.arrayBuffer()).byteLength));
    expect(await head.text()).toBe("");
  });

  test("is the same in every encoding, each with its own entity tag", async () => {
    const expected = await (await fetch(origin + path, { headers: plain })).text();
    const tags = new Set<string | null>();
    for (const encoding of ["br", "gzip"]) {
      const res = await fetch(origin + path, { headers: { "accept-encoding": encoding } });
      expect(res.headers.get("content-encoding")).toBe(encoding);
      expect(res.headers.get("vary")).toBe("accept-encoding");
      expect(await res.text()).toBe(expected);
      tags.add(res.headers.get("etag"));
    }
    expect(tags.size).toBe(2);
  });

  test("refuses methods other than GET and HEAD", async () => {
    const res = await fetch(origin + path, { method: "POST", body: "{}" });
    expect(res.status).toBe(405);
    expect(res.headers.get("allow")).toBe("GET, HEAD");
  });
});

test("the OpenAPI document is readable by scripts of any page", async () => {
  const res = await fetch(`${origin}/openapi.json?download`);
  expect(res.headers.get("content-type")).toBe("application/json");
  expect(res.headers.get("access-control-allow-origin")).toBe("*");
  expect(await res.json()).toMatchObject({ openapi: "3.1.1", info: { title: "Signpost" } });
});

test("the OpenAPI document names the service's own address as its server", async () => {
  const document = await (await fetch(`${origin}/openapi.json`)).json();
  expect(document).toMatchObject({ servers: [{ url: "https://api.example.com" }] });
});

test.each(["/", "/v1"])("%s says what the service is, and where to read on", async (path) => {
  const res = await fetch(origin + path);
  expect(res.headers.get("content-type")).toBe("application/json");
  expect(await res.json()).toMatchObject({
    name: "Signpost",
    version: "v1",
    links: { openapi: "https://api.example.com/openapi.json", documentation: "https://api.example.com/docs" },
  });
});

test("the API catalog links to description, documentation and status, and its Link header to itself", async () => {
  const res = await fetch(`${origin}/.well-known/api-catalog`, { method: "HEAD" });
  expect(res.headers.get("content-type")).toBe(
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  );
  expect(res.headers.get("link")).toBe(
    '<https://api.example.com/.well-known/api-catalog>; rel="api-catalog"',
  );
  expect(await (await fetch(`${origin}/.well-known/api-catalog`)).json()).toEqual({
    linkset: [
      {
        anchor: "https://api.example.com/v1",
        "service-desc": [{ href: "https://api.example.com/openapi.json", type: "application/json" }],
        "service-doc": [{ href: "https://api.example.com/docs", type: "text/html" }],
        status: [{ href: "https://api.example.com/health/ready", type: "application/json" }],
      },
    ],
  });
});

test("the metadata of the protected resource names its authorization server and scopes", async () => {
  const res = await fetch(`${origin}/.well-known/oauth-protected-resource`);
  expect(await res.json()).toMatchObject({
    resource: "https://api.example.com",
    authorization_servers: ["https://auth.example.com"],
    scopes_supported: ["links:read", "links:write"],
    bearer_methods_supported: ["header"],
  });
});

test("the guide to Google Forms needs no script, and its address gets the visit's id", async () => {
  const res = await fetch(`${origin}/docs/google-forms`);
  expect(res.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(res.headers.get("content-security-policy")).toContain("default-src 'none'");
  const page = (await res.text()).replaceAll("&amp;", "&");
  const [address = ""] = /https:\/\/docs\.google\.com[^\s<]+entry[^\s<]+/.exec(page) ?? [];
  expect(targetUrl(parseTarget(address), "", "AZJ4mJx0cHOxu8xGVRAGRg")).toContain(
    ".123456789=AZJ4mJx0cHOxu8xGVRAGRg&lbid=",
  );
});
test.each(["/docs/slack", "/docs/connected"])(
  "%s is a page without scripts, which tells no other site where it was read",
  async (path) => {
    const answer = await fetch(origin + path, { headers: plain });
    const page = await answer.text();
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
    // The address has the code of an authorization.
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page).toContain("/v1/slack-integrations/oauth/complete");
    expect(page).not.toContain("<script");
  },
);

test("every other path answers 404", async () => {
  for (const path of ["/docs/", "/docs/other.js", "/docs/..%2fpackage.json", "/.well-known/security.txt"]) {
    expect((await fetch(origin + path)).status).toBe(404);
  }
});

test.each([
  [undefined, "identity"],
  ["", "identity"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip;q=1.0, br;q=0", "gzip"],
  ["*", "br"],
  ["*;q=0.5, br;q=0", "gzip"],
  ["*;q=0", "identity"],
  ["GZIP", "gzip"],
  ["deflate", "identity"],
])("of the encodings %j the answer has %s", (header, encoding) => {
  expect(acceptedEncoding(header)).toBe(encoding);
});

test.each(["/auth.md", "/auth.md?x=1"])(
  "agents that know nothing learn at %s how to register",
  async (path) => {
    const answer = await fetch(origin + path);
    expect(answer.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    const text = await answer.text();
    for (const said of [
      "POST https://auth.example.com/agent/identity\n",
      "POST https://auth.example.com/agent/identity/claim\n",
      "POST https://auth.example.com/oauth2/token\n",
      "grant_type=urn:workos:agent-auth:grant-type:claim",
      "resource=https://api.example.com/mcp",
      "`links:read`",
      "`links:write`, `media:write`",
    ])
      expect(text).toContain(said);
  },
);
