import type { IncomingMessage, ServerResponse } from "node:http";
import { describeFailure } from "../db/describe-failure.ts";
import { newId } from "../lib/ids.ts";
import { discardBody, dropMax } from "../lib/limits/request-body.ts";
import { requestIdOf } from "../lib/request-id.ts";
import { isOauthFault, oauthFault } from "../oauth/oauth-fault.ts";
import { answerNewerLink, answerRegistration } from "./agent-endpoints.ts";
import type { AuthDeps } from "./deps.ts";
import { parseJson, readBody } from "./read-body.ts";

type Endpoint = "metadata" | "keys" | "token" | "register" | "revoke" | "agent" | "agent-link";

/** Below the issuer; with the issuer's path behind it, it is the place of the metadata (RFC 8414, 3). */
export const wellKnownName = ".well-known/oauth-authorization-server";

/** The endpoints for programs, by their path below the issuer. */
export const oauthEndpoints: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  [wellKnownName, "metadata"],
  ["oauth2/jwks", "keys"],
  ["oauth2/token", "token"],
  ["oauth2/reg", "register"],
  ["oauth2/revoke", "revoke"],
  ["agent/identity", "agent"],
  ["agent/identity/claim", "agent-link"],
]);

const documents: ReadonlySet<Endpoint> = new Set<Endpoint>(["metadata", "keys"]);

/** Agents are no pages: a page must not make workspaces from the networks of its visitors. */
const ofAgents: ReadonlySet<Endpoint> = new Set<Endpoint>(["agent", "agent-link"]);

interface Answer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answers the endpoints of OAuth, in JSON. Pages of any origin may use them: they know no cookies, and whoever asks needs a code
 * or a token.
 */
export function createOauthAnswerer(deps: AuthDeps) {
  return async (req: IncomingMessage, res: ServerResponse, endpoint: Endpoint): Promise<void> => {
    const requestId = requestIdOf(req.headers["x-request-id"], () => newId(deps.now()));
    const answer = await answerTo(deps, req, endpoint).catch((thrown: unknown) =>
      refused(deps, thrown, requestId),
    );
    const body = answer.body === undefined ? undefined : JSON.stringify(answer.body);
    res.writeHead(answer.status, {
      ...(!ofAgents.has(endpoint) && { "access-control-allow-origin": "*" }),
      "cache-control": documents.has(endpoint) && answer.status === 200 ? "public, max-age=300" : "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": requestId,
      ...(body !== undefined && {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      }),
      ...answer.headers,
    });
    res.end(req.method === "HEAD" ? undefined : body);
    discardBody(req, dropMax);
  };
}

async function answerTo(deps: AuthDeps, req: IncomingMessage, endpoint: Endpoint): Promise<Answer> {
  const allowed = documents.has(endpoint) ? ["GET", "HEAD"] : ["POST"];
  if (req.method === "OPTIONS" && !ofAgents.has(endpoint))
    return { status: 204, headers: preflightOf(allowed) };
  if (!allowed.includes(req.method ?? ""))
    return {
      ...faultAnswer(oauthFault("invalid_request", `use ${allowed.join(" or ")}`, { status: 405 })),
      headers: { allow: [...allowed, ...(ofAgents.has(endpoint) ? [] : ["OPTIONS"])].join(", ") },
    };
  if (endpoint === "metadata") return { status: 200, body: deps.oauth.metadata() };
  if (endpoint === "keys") return { status: 200, body: await deps.oauth.keys() };
  const { address } = deps.originOf(req);
  const retryAfterSeconds = deps.secondsToWait(address);
  if (retryAfterSeconds !== undefined)
    throw oauthFault("temporarily_unavailable", "too many requests", { status: 429, retryAfterSeconds });
  if (endpoint === "register") {
    const text = await readBody(req, { mediaType: "application/json", address });
    return { status: 201, body: await deps.oauth.register(parseJson(text), address) };
  }
  if (endpoint === "agent" || endpoint === "agent-link") {
    const json = parseJson(await readBody(req, { mediaType: "application/json", address }));
    const answer =
      endpoint === "agent" ? answerRegistration(deps, json, address) : answerNewerLink(deps, json);
    return { status: 200, body: await answer };
  }
  const text = await readBody(req, { mediaType: "application/x-www-form-urlencoded", address });
  const [form, asker] = [readForm(text), { address, authorization: req.headers.authorization }];
  if (endpoint === "token") return { status: 200, body: await deps.oauth.token(form, asker) };
  await deps.oauth.revoke(form, asker);
  return { status: 200 };
}

function preflightOf(methods: readonly string[]) {
  return {
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": "authorization, content-type, mcp-protocol-version",
    "access-control-max-age": "86400",
  };
}

/** The fields of a form. Throws for one that stands there twice (RFC 6749, 3.2). */
function readForm(text: string): ReadonlyMap<string, string> {
  const form = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (form.has(name)) throw oauthFault("invalid_request", `${name}: must be given once`);
    form.set(name, value);
  }
  return form;
}

function refused(deps: AuthDeps, thrown: unknown, requestId: string): Answer {
  if (isOauthFault(thrown)) return faultAnswer(thrown);
  const error = deps.toCallError(thrown);
  const { cause } = error.refusal;
  if (cause !== undefined)
    deps.log.error({ failure: describeFailure(cause), requestId }, "an endpoint of OAuth failed");
  const { status } = deps.errorAnswer(error);
  const name = status < 500 ? "invalid_request" : status === 503 ? "temporarily_unavailable" : "server_error";
  const { retryAfterSeconds } = error.refusal;
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return faultAnswer(oauthFault(name, error.message, { status, ...wait }));
}

function faultAnswer(fault: ReturnType<typeof oauthFault>): Answer {
  const { oauthError: error, message, status, retryAfterSeconds } = fault;
  return {
    status,
    // RFC 6749, 5.2 allows these characters only.
    body: { error, error_description: message.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?") },
    headers: {
      ...(status === 401 && { "www-authenticate": 'Basic realm="programs"' }),
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    },
  };
}
