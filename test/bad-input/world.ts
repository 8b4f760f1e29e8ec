import { execFile } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { deriveKey } from "../../src/lib/keys.ts";
import { type RestApi, restApi } from "../support/rest-api.ts";
import { root, type Service, sharedSecret } from "../support/start-service.ts";
import type { Headers, HttpRequest } from "./row.ts";

const run = promisify(execFile);

/** The values of the names in guillemets. */
export type World = ReadonlyMap<string, string>;

/** Replaces the names in guillemets by their values. */
export function fill(text: string, world: World): string {
  return text.replace(/«([^»]+)»/g, (_, name: string) => {
    const value = world.get(name);
    if (value === undefined) throw new Error(`no ${name} in the world`);
    return value;
  });
}

export function fillHeaders(headers: Headers, world: World): Headers {
  return headers.map(([name, value]) => [name, fill(value, world)] as const);
}

export function fillRequest(request: HttpRequest, world: World): HttpRequest {
  const { target, headers, body } = request;
  return {
    ...request,
    target: fill(target, world),
    headers: fillHeaders(headers, world),
    body: typeof body === "string" ? fill(body, world) : body,
  };
}

/** Makes two tenants with links, tokens of every kind, valid page tokens and damaged ones. */
export async function makeWorld(service: Service): Promise<World> {
  const { accessToken: token } = service.credentials;
  const foreignToken = await newWorkspace(service);
  const own = restApi(service.baseUrl, token);
  const foreign = restApi(service.baseUrl, foreignToken);
  const [link, deleted, foreignLink] = await Promise.all([
    own.createLink(),
    own.createLink(),
    foreign.createLink(),
    own.createLink(),
    foreign.createLink(),
  ]);
  await own.call("DELETE", `/v1/links/${deleted.id}`);
  const [kept, revoked, publishable, foreignKept] = await Promise.all([
    newToken(own, "SECRET"),
    newToken(own, "SECRET"),
    newToken(own, "PUBLISHABLE"),
    newToken(foreign, "SECRET"),
  ]);
  await own.call("DELETE", `/v1/workspace-tokens/${revoked.id}`);
  const usedKey = `key-${randomUUID()}`;
  await own.createLink({}, { "idempotency-key": usedKey });
  return new Map([
    ["port", String(service.port)],
    ["token", token],
    ["link", link.id],
    ["shortlink", link.shortlink],
    ["deleted-link", deleted.id],
    ["deleted-shortlink", deleted.shortlink],
    ["foreign-link", foreignLink.id],
    ["foreign-shortlink", foreignLink.shortlink],
    ["token-id", kept.id],
    ["foreign-token-id", foreignKept.id],
    ["publishable token", publishable.accessToken],
    ["revoked token", revoked.accessToken],
    ["used-key", usedKey],
    ...(await pageTokens(own, foreign)),
    ...forgedTokens(token),
  ]);
}

/** Runs the program's own command and returns the token that it prints. */
async function newWorkspace({ env, dataDir }: Service): Promise<string> {
  const command = join(root, "src/cli/signpost.ts");
  const options = ["workspace", "create", "--name", "Another tenant", "--email", "other@example.com"];
  const { stdout } = await run(process.execPath, [command, ...options], { cwd: dataDir, env: { ...env } });
  const [accessToken] = /eyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(stdout) ?? [];
  if (accessToken === undefined) throw new Error(`no token in: ${stdout}`);
  return accessToken;
}

async function newToken(
  api: RestApi,
  kind: "SECRET" | "PUBLISHABLE",
): Promise<{ id: string; accessToken: string }> {
  const keyType = `WORKSPACE_TOKEN_KEY_TYPE_${kind}`;
  const { token, accessToken } = await api.call("POST", "/v1/workspace-tokens", { keyType });
  return { id: token.id, accessToken };
}

async function pageTokens(own: RestApi, foreign: RestApi): Promise<[string, string][]> {
  const next = async (by: RestApi, path: string) => (await by.call("GET", path)).nextPageToken;
  const good = await next(own, "/v1/links?pageSize=1");
  const content: { k?: unknown; i: string; h?: string } = JSON.parse(Buffer.from(good, "base64").toString());
  const { h: _, ...withoutHash } = content;
  const write = (json: object) => Buffer.from(JSON.stringify(json)).toString("base64");
  return [
    ["page-token cut", good.slice(0, good.length / 2)],
    ["page-token with another id", write({ ...content, i: `${content.i}0` })],
    ["page-token with a number as id", write({ ...content, i: 5 })],
    ["page-token with another hash", write({ ...content, h: "AAAAAAAAAAAAAAAA" })],
    ["page-token without hash", write(withoutHash)],
    ["page-token with a wrong key", write({ ...content, k: { $gt: "" } })],
    ["page-token of a search", await next(own, "/v1/links?pageSize=1&search=example")],
    ["page-token of another order", await next(own, "/v1/links?pageSize=1&sortBy=LINK_SORT_FIELD_NAME")],
    ["page-token of another tenant", await next(foreign, "/v1/links?pageSize=1")],
    ["page-token of tokens", await next(own, "/v1/workspace-tokens?pageSize=1")],
  ];
}

/** Tokens that a thief could try, most of them wrong claims with a valid signature. */
function forgedTokens(token: string): [string, string][] {
  const [head = "", body = "", signature = ""] = token.split(".");
  const claims: Record<string, unknown> = JSON.parse(Buffer.from(body, "base64url").toString());
  const key = deriveKey(sharedSecret, "access-tokens");
  const header = { alg: "HS256", typ: "JWT" };
  const signed = (changes: Record<string, unknown>, over: object = header, withKey: Uint8Array = key) =>
    jwt(over, { ...claims, jti: randomUUID(), ...changes }, withKey);
  return [
    ["token cut", token.slice(0, -10)],
    ["signature", signature],
    ["token without signature", `${head}.${body}`],
    ["token with empty signature", `${head}.${body}.`],
    [
      "token with another payload",
      `${head}.${encode({ ...claims, workspace_id: randomUUID() })}.${signature}`,
    ],
    ["token with another header", `${encode({ ...header, kid: "1" })}.${body}.${signature}`],
    ["token of another key", signed({}, header, Buffer.alloc(32, 7))],
    ["token of the empty key", signed({}, header, Buffer.alloc(0))],
    ["token of algorithm none", `${encode({ alg: "none", typ: "JWT" })}.${body}.`],
    ["token of algorithm NONE", signed({}, { alg: "NONE", typ: "JWT" })],
    ["token of algorithm RS256", signed({}, { alg: "RS256", typ: "JWT" })],
    ["token of algorithm HS512", jwt({ alg: "HS512", typ: "JWT" }, claims, key, "sha512")],
    ["token with a critical extension", signed({}, { ...header, crit: ["x"], x: 1 })],
    ["token of text", jwt(header, "text", key)],
    ["token of a list", jwt(header, [claims], key)],
    ["expired token", signed({ exp: 1_000_000_000 })],
    ["token without jti", signed({ jti: undefined })],
    ["token with a word as jti", signed({ jti: "word" })],
    ["token without workspace", signed({ workspace_id: undefined })],
    ["token with a word as workspace", signed({ workspace_id: "word" })],
    ["token of another key type", signed({ key_type: "root" })],
    ["token of another environment", signed({ environment: "moon" })],
    ["token without scope", signed({ scope: undefined })],
    ["sandbox token without prefix", signed({ environment: "test" })],
  ];
}

function jwt(header: object, payload: unknown, key: Uint8Array, hash = "sha256"): string {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${createHmac(hash, key).update(text).digest("base64url")}`;
}

function encode(json: unknown): string {
  return Buffer.from(JSON.stringify(json)).toString("base64url");
}
