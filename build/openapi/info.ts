/** The document's description of the whole service. */
export const info = {
  title: "Signpost",
  version: "v1",
  summary: "Short links and QR codes that lead visitors through workflows.",
  description: `A link ties a short entrypoint to a workflow and a destination. A scan or click runs the workflow, records an event,
and may turn an anonymous visitor into a known one. Everything belongs to a workspace, which a token stands for.

The same operations are served as gRPC, Connect and gRPC-Web under the names of their protobuf services.

**Authentication.** Send a token as \`Authorization: Bearer …\`. Every operation names the scope it needs; a write scope
includes the read scope of its resource.

**JSON.** Of what callers send, unknown fields are ignored, and \`null\` or a query parameter without a value counts as absent.
In answers, fields without a value hold their zero value, such as \`""\`, \`0\` or \`[]\`; times, objects and optional fields
without a value are left out. 64-bit numbers come as text. Texts are trimmed and kept in Unicode's form NFC; control characters
other than line feed and tab are refused. A PATCH or PUT changes what it names.

**Paging.** \`nextPageToken\` of one page is \`pageToken\` of the next, with the same filters; it is empty on the last page. \`cursor\` is another name of
\`pageToken\`, and \`x-pagination\` says where a list keeps what pages need.

**Errors.** \`error.codeType\` says why, for programs; new values may be added. \`error.details\` says more, such as every
bad field.

**Changes.** What goes away is \`deprecated\` here, and its answers have \`Deprecation\` and \`Link\` headers for at least 180 days
before the day that \`Sunset\` and \`x-sunset\` name. Clients ignore fields and values that they do not know.

**Retries.** Every POST, PUT and PATCH takes an \`Idempotency-Key\`; the other calls can be repeated as they are.`,
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
