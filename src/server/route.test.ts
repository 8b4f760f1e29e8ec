import { describe, expect, test } from "vitest";
import { normalHost } from "../lib/hosts.ts";
import { createRoute, type Destination } from "./route.ts";

const services = ["signpost.v1.LinksService", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"];
const separate = createRoute({
  baseUrl: new URL("https://api.example.com"),
  shortUrl: new URL("https://go.example"),
  authUrl: new URL("https://auth.example.com"),
  mcpUrl: new URL("https://mcp.example.com"),
  services,
});
const shared = createRoute({
  baseUrl: new URL("https://example.com"),
  shortUrl: new URL("https://example.com/"),
  authUrl: new URL("https://example.com/auth/"),
  mcpUrl: new URL("https://example.com/mcp"),
  services,
});
const local = createRoute({
  baseUrl: new URL("http://localhost:8080"),
  shortUrl: new URL("http://localhost:8080"),
  authUrl: new URL("http://localhost:8080/auth"),
  mcpUrl: new URL("http://localhost:8080/mcp"),
  services,
});

type Case = [host: string | undefined, path: string, destination: Destination];

describe("with the API on a host of its own", () => {
  test.each<Case>([
    ["api.example.com", "/v1/links", "rest"],
    ["mcp.example.com", "/", "mcp"],
    ["mcp.example.com", "/mcp", "none"],
    ["mcp.example.com", "/.well-known/oauth-protected-resource", "mcp-metadata"],
    ["mcp.example.com", "/v1/links", "none"],
    ["api.example.com", "/mcp", "none"],
    ["api.example.com", "/v1", "discovery"],
    ["api.example.com", "/auth.md", "discovery"],
    ["auth.example.com", "/auth.md", "discovery"],
    ["auth.example.com", "/agent/identity", "auth"],
    ["go.example", "/auth.md", "scan"],
    ["api.example.com", "/v1/", "rest"],
    ["api.example.com", "/v12", "none"],
    ["API.Example.COM", "/v1/links", "rest"],
    ["api.example.com.", "/v1/links", "rest"],
    ["api.example.com:443", "/v1/links", "rest"],
    ["api.example.com:8443", "/v1/links", "scan"],
    ["api.example.com", "/signpost.v1.LinksService/Create", "rpc"],
    ["api.example.com", "/signpost.v1.LinksService/Unknown", "rpc"],
    ["api.example.com", "/grpc.health.v1.Health/Check", "rpc"],
    ["api.example.com", "/signpost.v1.LinksService", "none"],
    ["api.example.com", "/signpost.v1.LinksService/Create/", "rpc"],
    ["api.example.com", "/signpost.v1.Unknown/Create", "none"],
    ["api.example.com", "/openapi.json", "discovery"],
    ["api.example.com", "/sign-in", "none"],
    ["auth.example.com", "/", "auth"],
    ["auth.example.com", "/sign-in", "auth"],
    ["auth.example.com", "/.well-known/oauth-authorization-server", "auth"],
    ["api.example.com", "/.well-known/oauth-authorization-server", "none"],
    ["auth.example.com", "/v1/links", "auth"],
    ["auth.example.com", "/health/live", "operation"],
    ["go.example", "/auth", "scan"],
    ["api.example.com", "/docs", "discovery"],
    ["api.example.com", "/docs/api-reference.js", "discovery"],
    ["api.example.com", "/.well-known/api-catalog", "discovery"],
    ["api.example.com", "/.well-known/oauth-protected-resource", "discovery"],
    ["api.example.com", "/docs/other", "none"],
    ["go.example", "/openapi.json", "scan"],
    ["api.example.com", "/4BnH-R19p", "none"],
    ["api.example.com", "/", "discovery"],
    ["api.example.com", "", "none"],
    ["api.example.com", "*", "none"],
    ["api.example.com", "/metrics", "none"],
    ["go.example", "/grpc.health.v1.Health/Check", "rpc"],
    [undefined, "/grpc.health.v1.Health/Watch", "rpc"],
    ["api.example.com", "/health/ready", "operation"],
    ["api.example.com", "/health/other", "none"],
    ["api.example.com", "/_p/files/a.png", "file"],
    ["api.example.com", "/_p/other", "none"],
    ["go.example", "/4BnH-R19p", "scan"],
    ["go.example", "/", "scan"],
    ["go.example", "/v1/links", "scan"],
    ["go.example", "/signpost.v1.LinksService/Create", "scan"],
    ["go.example", "/_p/files/a.png", "file"],
    ["go.example", "/_p/fonts/a.woff2", "font"],
    ["api.example.com", "/_p/fonts/a.woff2", "font"],
    ["go.example", "/_p/other", "scan"],
    ["go.example", "/metrics", "scan"],
    ["go.example", "/health/live", "operation"],
    ["links.customer.example", "/summer", "scan"],
    ["links.customer.example", "/v1/links", "scan"],
    ["links.customer.example", "/_p/files/public/a.jpg", "file"],
    ["links.customer.example", "/_p/files/a.png", "scan"],
    ["links.customer.example", "/_p/fonts/a.woff2", "font"],
    ...[
      "/",
      "/v1",
      "/signpost.v1.LinksService/Create",
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "/openapi.json",
      "/docs",
      "/auth",
      "/auth/sign-in",
      "/auth.md",
      "/mcp",
      "/oauth2/token",
      "/metrics",
      "/.well-known/api-catalog",
      "/.well-known/oauth-protected-resource",
      "/.well-known/oauth-authorization-server",
      "/.well-known/openid-configuration",
    ].map((path): Case => ["links.customer.example", path, "scan"]),
    ["api.example.com.evil.example", "/v1/links", "scan"],
    ["10.1.2.3:8080", "/metrics", "scan"],
    ["10.1.2.3:8080", "/v1/links", "scan"],
    [undefined, "/health/live", "operation"],
    [undefined, "/v1/links", "none"],
    [undefined, "/4BnH-R19p", "none"],
  ])("sends %s%s to %s", (host, path, destination) => {
    expect(separate(host, path)).toBe(destination);
  });
});

describe("with one host for both", () => {
  test.each<Case>([
    ["example.com", "/v1/links", "rest"],
    ["example.com", "/signpost.v1.LinksService/Create", "rpc"],
    ["example.com", "/4BnH-R19p", "scan"],
    ["example.com", "/", "discovery"],
    ["links.customer.example", "/v1/links", "scan"],
  ])("sends %s%s to %s", (host, path, destination) => {
    expect(shared(host, path)).toBe(destination);
  });
});

describe("on a developer's computer", () => {
  test.each<Case>([
    ["localhost:8080", "/v1/links", "rest"],
    ["127.0.0.1:8080", "/v1/links", "rest"],
    ["[::1]:8080", "/v1/links", "rest"],
    ["localhost:8080", "/4BnH-R19p", "scan"],
    ["127.0.0.1:8080", "/auth/sign-in", "auth"],
    ["localhost:8080", "/auth", "auth"],
    ["localhost:8080", "/authors", "scan"],
    ["localhost:9090", "/auth/sign-in", "scan"],
    ["localhost:9090", "/v1/links", "scan"],
    ["localhost", "/v1/links", "scan"],
  ])("sends %s%s to %s", (host, path, destination) => {
    expect(local(host, path)).toBe(destination);
  });
});

test("compares hosts regardless of case, final dot and default port", () => {
  expect(normalHost("Go.Example.:443")).toBe("go.example");
  expect(normalHost("go.example.:8080")).toBe("go.example:8080");
});
