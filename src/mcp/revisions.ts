import { isJsonObject } from "../wire/read-message.ts";
import { type RpcFault, rpcCodes, rpcFault } from "./json-rpc.ts";
import type { Json } from "./tool.ts";

/** The revisions of the protocol that are served at one address. */
export type Revision = "2025-11-25" | "2026-07-28";

/** The revision with a handshake: `initialize` comes first, though nothing of it is kept. */
export const withHandshake = "2025-11-25" satisfies Revision;

/** The revision in which every request says all about itself in `_meta`. */
export const stateless = "2026-07-28" satisfies Revision;

const revisions: readonly string[] = [withHandshake, stateless];

const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
const clientKey = "io.modelcontextprotocol/clientInfo";

/** The parts of a request over HTTP that repeat what the body says. */
export interface RepeatedHeaders {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

/** Which parameter of a method `Mcp-Name` repeats. */
const namedBy = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);

/**
 * Tells the revision of a request by `_meta` and checks that the headers agree. A request without a version in `_meta` is one
 * of the revision with a handshake, unless its header names the other.
 */
export function revisionOf(method: string, params: Json, headers: RepeatedHeaders): Revision | RpcFault {
  const meta = isJsonObject(params._meta) ? params._meta : {};
  const claimed = meta[versionKey];
  if (claimed === undefined) return withoutClaim(headers.version);
  if (typeof claimed !== "string") return badMeta(versionKey, "must be a text");
  if (headers.version !== claimed)
    return mismatch("MCP-Protocol-Version", headers.version, `_meta names ${shown(claimed)}`);
  if (claimed !== stateless) return unsupported(claimed, [stateless]);
  if (!isJsonObject(meta[capabilitiesKey])) return badMeta(capabilitiesKey, "must be an object");
  if (meta[clientKey] !== undefined && !isJsonObject(meta[clientKey]))
    return badMeta(clientKey, "must be an object");
  if (headers.method !== method)
    return mismatch("Mcp-Method", headers.method, `the body asks for ${shown(method)}`);
  const name = params[namedBy.get(method) ?? ""];
  if (typeof name === "string" && decoded(headers.name) !== name)
    return mismatch("Mcp-Name", headers.name, `the body names ${shown(name)}`);
  return stateless;
}

function withoutClaim(version: string | undefined): Revision | RpcFault {
  if (version === undefined || version === withHandshake) return withHandshake;
  if (version === stateless) return badMeta(versionKey, "is missing");
  return unsupported(version, revisions);
}

/** A value that HTTP cannot carry comes as `=?base64?…?=`. Undefined when that is malformed. */
function decoded(header: string | undefined): string | undefined {
  const base64 = /^=\?base64\?(.*)\?=$/.exec(header ?? "")?.[1];
  if (base64 === undefined) return header;
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 ? bytes.toString("utf8") : undefined;
}

function badMeta(key: string, fault: string): RpcFault {
  return rpcFault(rpcCodes.invalidParams, `_meta: ${key} ${fault}`);
}

function mismatch(header: string, value: string | undefined, body: string): RpcFault {
  const said = value === undefined ? "is missing" : `says ${shown(value)}`;
  return rpcFault(rpcCodes.headerMismatch, `the header ${header} ${said}, but ${body}`);
}

function unsupported(requested: string, supported: readonly string[]): RpcFault {
  const message = `the protocol version is not supported; use ${supported.join(" or ")}`;
  return rpcFault(rpcCodes.unsupportedVersion, message, {
    data: { supported, requested: requested.slice(0, shownMax) },
  });
}

const shownMax = 100;

/** A value of the client in an error, cut to a bounded length. */
function shown(value: string): string {
  return value.length > shownMax ? `${value.slice(0, shownMax)}…` : value;
}

/** Who answers, as every result of the stateless revision says. */
export interface ServerInfo {
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

/** How long a client may reuse a result, and whether only for this caller. */
export interface Caching {
  readonly ttlMs: number;
  readonly cacheScope: "public" | "private";
}

/** The members that a revision adds to every result: the text of JSON members, each followed by a comma. */
export function resultMembers(revision: Revision, server: ServerInfo, caching?: Caching): string {
  if (revision === withHandshake) return "";
  const meta = { "io.modelcontextprotocol/serverInfo": server };
  return `${JSON.stringify({ resultType: "complete", ...caching, _meta: meta }).slice(1, -1)},`;
}
