import { readFile } from "node:fs/promises";
import { withoutEndSlashes } from "../lib/end-slashes.ts";
import { type Document, documentsHandler, everywhere, json, text } from "./documents/documents.ts";
import type { AuthMdFacts } from "./documents/guides/auth-md.ts";
import { guidePolicy } from "./documents/guides/guide-page.ts";
import { referencePage, referencePolicy, referenceStart } from "./documents/reference-page.ts";
import type { HttpAnswer, HttpRequest } from "./http.ts";

export interface DiscoveryDeps {
  /** Public address of the API, without a slash at the end. */
  readonly baseUrl: string;
  /** Address of the authorization server. */
  readonly authUrl: string;
  /** The public names of all scopes. */
  readonly scopes: Iterable<string>;
  /** What agents that registered may do before and after their workspace is claimed. */
  readonly agents: Omit<AuthMdFacts, "baseUrl" | "authUrl">;
}

/** How agents register. It is served on the host of the authorization server too, at its root and below its address. */
export const authMdPath = "/auth.md";

/** The paths on the API's host where programs and people learn what the API is. */
export const discoveryPaths = [
  "/",
  "/v1",
  "/openapi.json",
  "/docs",
  "/docs/google-forms",
  "/docs/api-reference.js",
  "/docs/start.js",
  "/docs/connected",
  "/docs/slack",
  "/docs/webhooks",
  "/.well-known/api-catalog",
  "/.well-known/oauth-protected-resource",
  authMdPath,
] as const;

type DiscoveryPath = (typeof discoveryPaths)[number];

/**
 * Serves the welcome document, the OpenAPI document, the API reference made of it, guides, the API catalog (RFC 9727) and the
 * metadata of the protected resource (RFC 9728).
 */
export function discoveryHandler(deps: DiscoveryDeps): (req: HttpRequest, res: HttpAnswer) => Promise<void> {
  const documents = documentsOf(deps);
  const ownAuthMd = `${withoutEndSlashes(new URL(deps.authUrl).pathname)}${authMdPath}`;
  return documentsHandler(new Map([...Object.entries(documents), [ownAuthMd, documents[authMdPath]]]));
}

function documentsOf({
  baseUrl,
  authUrl,
  scopes,
  agents,
}: DiscoveryDeps): Readonly<Record<DiscoveryPath, Document>> {
  const page = { "content-security-policy": referencePolicy, "referrer-policy": "no-referrer" };
  const catalog = `<${baseUrl}/.well-known/api-catalog>; rel="api-catalog"`;
  return {
    "/": { contentType: "application/json", read: json(welcome(baseUrl)), headers: everywhere },
    "/v1": { contentType: "application/json", read: json(welcome(baseUrl)), headers: everywhere },
    "/openapi.json": {
      contentType: "application/json",
      read: async () =>
        withServer(await readFile(new URL("../../gen/openapi.json", import.meta.url)), baseUrl),
      headers: everywhere,
    },
    "/docs": { contentType: "text/html; charset=utf-8", read: text(referencePage), headers: page },
    "/docs/google-forms": {
      contentType: "text/html; charset=utf-8",
      read: async () =>
        Buffer.from((await import("./documents/guides/google-forms-guide.ts")).googleFormsGuide),
      headers: { "content-security-policy": guidePolicy, "referrer-policy": "no-referrer" },
    },
    "/docs/api-reference.js": {
      contentType: "text/javascript; charset=utf-8",
      read: () => readFile(new URL("../../vendor/scalar/api-reference.js", import.meta.url)),
    },
    "/docs/start.js": { contentType: "text/javascript; charset=utf-8", read: text(referenceStart) },
    "/docs/connected": guide(async () => (await import("./documents/guides/slack-guide.ts")).connectedGuide),
    "/docs/slack": guide(async () => (await import("./documents/guides/slack-guide.ts")).slackGuide),
    "/docs/webhooks": guide(async () => (await import("./documents/guides/webhooks-guide.ts")).webhooksGuide),
    [authMdPath]: {
      contentType: "text/markdown; charset=utf-8",
      read: async () =>
        Buffer.from((await import("./documents/guides/auth-md.ts")).authMd({ baseUrl, authUrl, ...agents })),
      headers: everywhere,
    },
    "/.well-known/api-catalog": {
      contentType: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      read: json(apiCatalog(baseUrl)),
      headers: { ...everywhere, link: catalog },
    },
    "/.well-known/oauth-protected-resource": resourceMetadata(baseUrl, { baseUrl, authUrl, scopes }),
  };
}

/** What a client must know to get an access token for a resource (RFC 9728). */
export function resourceMetadata(
  resource: string,
  { baseUrl, authUrl, scopes }: Omit<DiscoveryDeps, "agents">,
): Document {
  return {
    contentType: "application/json",
    read: json({
      resource,
      resource_name: "Signpost",
      resource_documentation: `${baseUrl}/docs`,
      authorization_servers: [authUrl],
      scopes_supported: [...scopes].sort((a, b) => (a < b ? -1 : 1)),
      bearer_methods_supported: ["header"],
    }),
    headers: everywhere,
  };
}

/** A page for people, which is loaded with its first reader. */
function guide(load: () => Promise<string>): Document {
  return {
    contentType: "text/html; charset=utf-8",
    read: async () => Buffer.from(await load()),
    headers: { "content-security-policy": guidePolicy, "referrer-policy": "no-referrer" },
  };
}

/** The welcome document at `/` and `/v1`. */
function welcome(baseUrl: string): object {
  return {
    name: "Signpost",
    version: "v1",
    links: {
      api: `${baseUrl}/v1`,
      openapi: `${baseUrl}/openapi.json`,
      documentation: `${baseUrl}/docs`,
      catalog: `${baseUrl}/.well-known/api-catalog`,
      authentication: `${baseUrl}/.well-known/oauth-protected-resource`,
      status: `${baseUrl}/health/ready`,
    },
  };
}

/** Puts the service's own address into the OpenAPI document. */
function withServer(document: Buffer, baseUrl: string): Buffer {
  return Buffer.from(document.toString().replace('"url": "/"', () => `"url": ${JSON.stringify(baseUrl)}`));
}

function apiCatalog(baseUrl: string): object {
  return {
    linkset: [
      {
        anchor: `${baseUrl}/v1`,
        "service-desc": [{ href: `${baseUrl}/openapi.json`, type: "application/json" }],
        "service-doc": [{ href: `${baseUrl}/docs`, type: "text/html" }],
        status: [{ href: `${baseUrl}/health/ready`, type: "application/json" }],
      },
    ],
  };
}
