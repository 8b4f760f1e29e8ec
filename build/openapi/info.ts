/** The document's description of the whole service. */
export const info = {
  title: "Signpost",
  version: "v1",
  summary: "Short links and QR codes that lead visitors through workflows.",
  description: `A link ties a short entrypoint to a workflow and a destination. A scan or click runs the workflow, records an event,
and may turn an anonymous visitor into a known one. Every record belongs to a workspace, and a token belongs to one workspace.

The same operations are served as gRPC, Connect and gRPC-Web under the names of their protobuf services.

**Authentication.** Send a token as \`Authorization: Bearer …\`. Every operation names the scope it needs; a write scope
includes the read scope of its resource.

**Members.** A person signs in at the address that \`authorization_servers\` of \`/.well-known/oauth-protected-resource\` names, by default
\`/auth\` on this host. A program sends \`{"email": …, "password": …}\` as JSON with \`POST\` to \`/session\` below that address. The answer is
the member with \`accessToken\`: a session of 30 days with the scopes of the member's role, sent like a token. Where the workspace
enforces a second factor, the first answer is 401 \`SIGN_IN_CODE_REQUIRED\` and a code arrives by mail; send all again with \`"code": "123456"\`.
Wrong passwords and codes are 401, and 429 with \`Retry-After\` when there were too many. \`DELETE\` of the same address with the session as bearer
token ends it, with 204.

**JSON.** In requests, unknown fields are ignored; \`null\` and a query parameter without a value count as absent.
In answers, fields without a value have their zero value, such as \`""\`, \`0\` or \`[]\`; times, objects and optional fields
without a value are left out. 64-bit numbers are texts. Texts are trimmed and brought to Unicode's form NFC; control characters
other than line feed and tab are refused. A PATCH or PUT changes the fields that its body names.

**Paging.** Send the \`nextPageToken\` of one page as the \`pageToken\` of the next, with the same filters. It is empty on the last
page. \`cursor\` is another name of \`pageToken\`. \`x-pagination\` names the paging parameters and fields of an operation.

**Errors.** \`error.codeType\` is the reason, for programs; new values may be added. \`error.details\` has further facts, such as
every bad field.

**Changes.** An operation that will be removed is \`deprecated\` here, and its answers have \`Deprecation\` and \`Link\` headers for at least 180 days
before the day that \`Sunset\` and \`x-sunset\` name. Clients ignore fields and values that they do not know.

**Sandboxes.** A sandbox is a workspace for experiments with tokens of its own. Every answer to one of its tokens, and every answer
of one of its links, has \`X-Service-Sandbox: true\` and \`X-Robots-Tag: noindex\`. With a token of a sandbox, the header
\`X-Service-Test-Clock\` (an RFC 3339 time) sets the time that the rules of workflows see in simulations. A visit of a
sandbox's link takes the same time as its query parameter \`testClock\`, for all of its pages and for the link's expiry.

**Retries.** Every POST, PUT and PATCH takes an \`Idempotency-Key\`; other calls can be repeated without one.`,
  license: { name: "Apache 2.0", identifier: "Apache-2.0" },
} as const;

/** How callers authenticate. */
export const securitySchemes = {
  bearerAuth: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description:
      "A workspace token, a member's session or an OAuth grant that holds the scope of the operation. Tokens of sandboxes begin with `svc_test_`.",
  },
  memberSession: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "The session of a member. Workspace tokens and grants are refused.",
  },
} as const;
