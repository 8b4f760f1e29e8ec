import type { Headers, RestRow } from "./row.ts";

/** A token, or a text in its place, and how every protocol refuses it. */
export interface BadToken {
  readonly name: string;
  /** The headers of the call; over gRPC they are metadata. */
  readonly headers: Headers;
  readonly code: "UNAUTHENTICATED" | "PERMISSION_DENIED";
  readonly reason: string;
  /** gRPC metadata and HTTP/2 cannot carry it. */
  readonly onlyHttp1?: true;
}

function authorization(name: string, value: string, reason = "UNAUTHENTICATED"): BadToken {
  return { name, headers: [["authorization", value]], code: "UNAUTHENTICATED", reason };
}

const mismatch = "TOKEN_ENVIRONMENT_MISMATCH";

export const badTokens: readonly BadToken[] = [
  { name: "no token", headers: [], code: "UNAUTHENTICATED", reason: "UNAUTHENTICATED" },
  authorization("an empty header", ""),
  authorization("a scheme without token", "Bearer"),
  authorization("a token without scheme", "«token»"),
  authorization("basic authentication", "Basic dXNlcjpwYXNzd29yZA=="),
  authorization("a token in basic authentication", "Basic «token»"),
  authorization("a scheme nobody knows", "Token «token»"),
  authorization("a scheme joined to the token", "Bearer:«token»"),
  authorization("two tokens", "Bearer «token» «token»"),
  authorization("two tokens with a comma", "Bearer «token», Bearer «token»"),
  authorization("a token in quotes", 'Bearer "«token»"'),
  authorization("one letter", "Bearer x"),
  authorization("two dots", "Bearer .."),
  authorization("three words", "Bearer not.a.token"),
  authorization("a token cut short", "Bearer «token cut»"),
  authorization("a token with a letter more", "Bearer «token»x"),
  authorization("a token with padding", "Bearer «token»="),
  authorization("a token without signature", "Bearer «token without signature»"),
  authorization("a token with an empty signature", "Bearer «token with empty signature»"),
  authorization("a token with two signatures", "Bearer «token».«signature»"),
  authorization("another payload under the signature", "Bearer «token with another payload»"),
  authorization("another header over the signature", "Bearer «token with another header»"),
  authorization("a signature of another key", "Bearer «token of another key»"),
  authorization("the empty key", "Bearer «token of the empty key»"),
  authorization("algorithm none", "Bearer «token of algorithm none»"),
  authorization("algorithm NONE, with a signature", "Bearer «token of algorithm NONE»"),
  authorization("algorithm RS256", "Bearer «token of algorithm RS256»"),
  authorization("algorithm HS512", "Bearer «token of algorithm HS512»"),
  authorization("a critical extension nobody knows", "Bearer «token with a critical extension»"),
  authorization("a payload that is no JSON", "Bearer «token of text»"),
  authorization("a payload that is a list", "Bearer «token of a list»"),
  authorization("a header that is no JSON", "Bearer bm90anNvbg.e30.AAAA"),
  authorization("an expired token", "Bearer «expired token»"),
  authorization("a revoked token", "Bearer «revoked token»"),
  authorization("a token without id", "Bearer «token without jti»"),
  authorization("a token with a word as id", "Bearer «token with a word as jti»"),
  authorization("a token without workspace", "Bearer «token without workspace»"),
  authorization("a token with a word as workspace", "Bearer «token with a word as workspace»"),
  authorization("a token of a key type nobody knows", "Bearer «token of another key type»"),
  authorization("a token of an environment nobody knows", "Bearer «token of another environment»"),
  authorization("a token without scope", "Bearer «token without scope»"),
  authorization("the sandbox's prefix on a live token", "Bearer svc_test_«token»", mismatch),
  authorization("a sandbox's token without its prefix", "Bearer «sandbox token without prefix»", mismatch),
  authorization("a prefix that no token has", "Bearer svc_live_«token»"),
  authorization("the prefix in capitals", "Bearer SVC_TEST_«token»"),
  authorization("the prefix twice", "Bearer svc_test_svc_test_«token»"),
  authorization("the prefix alone", "Bearer svc_test_"),
  authorization("8,000 letters", `Bearer ${"a".repeat(8_000)}`),
  authorization("8,000 dots", `Bearer ${".".repeat(8_000)}`),
  { ...authorization("letters beyond ASCII", "Bearer «token»\xe4\xf6\xfc"), onlyHttp1: true },
  {
    name: "the token in a header of another name",
    headers: [["x-api-key", "«token»"]],
    code: "UNAUTHENTICATED",
    reason: "UNAUTHENTICATED",
  },
  {
    name: "the token in a cookie",
    headers: [["cookie", "token=«token»; authorization=Bearer «token»"]],
    code: "UNAUTHENTICATED",
    reason: "UNAUTHENTICATED",
  },
  {
    name: "two headers, the first with a wrong token",
    headers: [
      ["authorization", "Bearer x"],
      ["authorization", "Bearer «token»"],
    ],
    code: "UNAUTHENTICATED",
    reason: "UNAUTHENTICATED",
    onlyHttp1: true,
  },
  {
    name: "a publishable token",
    headers: [["authorization", "Bearer «publishable token»"]],
    code: "PERMISSION_DENIED",
    reason: "INSUFFICIENT_SCOPE",
  },
];

function call(
  name: string,
  method: string,
  target: string,
  headers: Headers,
  body: string,
  status: number,
  codeType: string,
  answer: Record<string, string> = {},
): RestRow {
  return {
    kind: "rest",
    name,
    request: { method, target, headers, body },
    expect: { status, codeType, headers: answer },
  };
}

const publishable: Headers = [["authorization", "Bearer «publishable token»"]];
const scopes: [method: string, target: string, scope: string][] = [
  ["GET", "/v1/links", "links:read"],
  ["GET", "/v1/links/«link»", "links:read"],
  ["GET", "/v1/links/shortlink-random", "links:read"],
  ["DELETE", "/v1/links/«link»", "links:write"],
  ["GET", "/v1/events", "analytics:read"],
  ["GET", "/v1/events/«link»/traces", "analytics:read"],
  ["GET", "/v1/workspace-tokens", "tokens:read"],
  ["DELETE", "/v1/workspace-tokens/«token-id»", "tokens:write"],
];

const challenge = 'Bearer resource_metadata="http://localhost:«port»/.well-known/oauth-protected-resource"';

/** The parts of a refusal that only REST shows: the challenge, and which check comes first. */
export const tokenRows: readonly RestRow[] = [
  call("a challenge without token", "GET", "/v1/links", [], "", 401, "UNAUTHENTICATED", {
    "www-authenticate": challenge,
  }),
  call("a token in the query", "GET", "/v1/links?access_token=«token»", [], "", 401, "UNAUTHENTICATED"),
  call(
    "a token of the query's name",
    "GET",
    "/v1/links?authorization=Bearer%20«token»",
    [],
    "",
    401,
    "UNAUTHENTICATED",
  ),
  call(
    "an open call with a wrong token",
    "GET",
    "/v1/api-scopes",
    [["authorization", "Bearer x"]],
    "",
    401,
    "UNAUTHENTICATED",
  ),
  ...scopes.map(([method, target, scope]) =>
    call(
      `${method} ${target} with a publishable token`,
      method,
      target,
      publishable,
      "",
      403,
      "INSUFFICIENT_SCOPE",
      {
        "www-authenticate": `${challenge}, error="insufficient_scope", scope="${scope}"`,
      },
    ),
  ),
  call(
    "a body that is no JSON, from a stranger",
    "POST",
    "/v1/links",
    [["content-type", "application/json"]],
    "{",
    401,
    "UNAUTHENTICATED",
  ),
  call(
    "a body of another type, from a stranger",
    "POST",
    "/v1/links",
    [["content-type", "text/plain"]],
    "{",
    415,
    "UNSUPPORTED_MEDIA_TYPE",
  ),
  call("a wrong method, from a stranger", "PUT", "/v1/links", [], "", 405, "METHOD_NOT_ALLOWED", {
    allow: "GET, HEAD, POST",
  }),
  call("a malformed id, from a stranger", "GET", "/v1/links/menu", [], "", 401, "UNAUTHENTICATED"),
  call(
    "a malformed id, without the scope",
    "GET",
    "/v1/links/menu",
    publishable,
    "",
    403,
    "INSUFFICIENT_SCOPE",
  ),
];
