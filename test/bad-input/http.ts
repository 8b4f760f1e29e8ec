import { type BytesRow, bearer, type Headers, type PageRow, type RestRow, rest } from "./row.ts";

const link = '{"destination":"https://example.com/"}';
const mebibyte = 1024 * 1024;

function post(
  name: string,
  headers: Headers,
  status: number,
  codeType: string,
  body: string | Uint8Array = link,
): RestRow {
  return rest(
    name,
    { method: "POST", target: "/v1/links", headers: [...bearer, ...headers], body },
    status,
    codeType,
  );
}

const otherMediaTypes = [
  "text/plain",
  "text/json",
  "text/html; charset=utf-8",
  "application/xml",
  "application/javascript",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/jsonx",
  "application/ld+json",
  "application/vnd.api+json",
  "application/json+protobuf",
  "application/x-protobuf",
  "application/grpc",
  "application/",
  "application",
  "json",
  "*/*",
  ";charset=utf-8",
  "text/plain, application/json",
  "application/json; charset=utf-16",
  "application/json; charset=iso-8859-1",
  'application/json; charset="latin1"',
  "application/json;charset=utf-8;charset=utf-7",
];

const unreadableCodings = ["br", "zstd", "compress", "gzip, identity", "x-unknown"];

const wrongIdempotencyKeys: [name: string, key: string][] = [
  ["of 256 characters", "k".repeat(256)],
  ["of 4,000 characters", "k".repeat(4_000)],
  ["with a letter beyond ASCII", "schlüssel"],
  ["with a tab", "a\tb"],
  ["of one byte beyond ASCII", "\x80"],
  ["without characters", ""],
];

export const httpRows: readonly RestRow[] = [
  ...otherMediaTypes.map((type) =>
    post(`a body of type ${type}`, [["content-type", type]], 415, "UNSUPPORTED_MEDIA_TYPE"),
  ),
  post("a body without type", [], 415, "UNSUPPORTED_MEDIA_TYPE"),
  ...["gzip", "deflate"].map((coding) =>
    post(
      `a body that is no ${coding}`,
      [
        ["content-type", "application/json"],
        ["content-encoding", coding],
      ],
      400,
      "INVALID_ARGUMENT",
    ),
  ),
  ...unreadableCodings.map((coding) =>
    post(
      `a body with content coding ${coding}`,
      [
        ["content-type", "application/json"],
        ["content-encoding", coding],
      ],
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ),
  ),
  post(
    "a body over 8 MiB",
    [["content-type", "application/json"]],
    413,
    "REQUEST_TOO_LARGE",
    Buffer.alloc(8 * mebibyte + 1, " "),
  ),
  ...wrongIdempotencyKeys.map(([name, key]) =>
    post(
      `an idempotency key ${name}`,
      [
        ["content-type", "application/json"],
        ["idempotency-key", key],
      ],
      400,
      "INVALID_IDEMPOTENCY_KEY",
    ),
  ),
  post(
    "an idempotency key that came with another body",
    [
      ["content-type", "application/json"],
      ["idempotency-key", "«used-key»"],
    ],
    422,
    "IDEMPOTENCY_KEY_REUSED",
    '{"destination":"https://example.com/other"}',
  ),
];

const page = (
  name: string,
  method: string,
  target: string,
  status: number,
  headers: Headers = [],
): PageRow => ({
  kind: "page",
  name,
  request: { method, target, headers, body: "" },
  expect: status === 405 ? { status, headers: { allow: "GET, HEAD" } } : { status },
});

const unknownShortlinks = [
  "/no-such-link",
  "/no-such-link?qr",
  "/NO-SUCH-LINK",
  "/«shortlink»/more",
  "/«shortlink»%2f",
  "/«shortlink»%00",
  "/%00",
  "/%",
  "/%zz",
  "/%ff",
  "/%2e%2e",
  "/..",
  "/../../etc/passwd",
  "/..%2f..%2fetc%2fpasswd",
  "//",
  "//example.com/",
  "/\\example.com",
  "/<script>alert(1)</script>",
  "/%3Cscript%3E",
  "/.env",
  "/.git/config",
  "/wp-login.php",
  "/__proto__",
  "/constructor",
  "/V1/links",
  "/v2/links",
  "/health",
  "/health/nothing",
  "/signpost.v1.NoService/List",
  "/«deleted-shortlink»",
  `/${"a".repeat(8_000)}`,
];

/** Requests as visitors send them, refused with a page. */
export const pageRows: readonly PageRow[] = [
  ...unknownShortlinks.map((target) => page(`GET ${target.slice(0, 60)}`, "GET", target, 404)),
  ...["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"].map((method) =>
    page(`${method} to a short link`, method, "/«shortlink»", 405),
  ),
  page("a short link on a host nobody registered", "GET", "/«shortlink»", 404, [["host", "unknown.example"]]),
  page("a short link on a host that is none", "GET", "/«shortlink»", 404, [["host", "a b<c>"]]),
  page("the API on a host nobody registered", "GET", "/v1/links", 404, [["host", "unknown.example"]]),
];

const head = "Host: localhost:«port»\r\nAuthorization: Bearer «token»\r\nContent-Type: application/json\r\n";
const bytes = (name: string, text: string, status: number): BytesRow => ({
  kind: "bytes",
  name,
  bytes: text,
  expect: { status },
});
const shortened = (name: string, text: string): BytesRow => ({ ...bytes(name, text, 400), half: true });
const unfinished = (name: string, text: string): BytesRow => ({
  kind: "bytes",
  name,
  bytes: text,
  half: true,
  expect: "cut off",
});

/** Requests that are invalid in HTTP/1.1. */
export const bytesRows: readonly BytesRow[] = [
  bytes(
    "two lengths",
    `POST /v1/links HTTP/1.1\r\n${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `,
    400,
  ),
  bytes("two lengths in one", `POST /v1/links HTTP/1.1\r\n${head}Content-Length: 2, 3\r\n\r\n{} `, 400),
  bytes("a length below zero", `POST /v1/links HTTP/1.1\r\n${head}Content-Length: -1\r\n\r\n{}`, 400),
  bytes("a length with a sign", `POST /v1/links HTTP/1.1\r\n${head}Content-Length: +2\r\n\r\n{}`, 400),
  bytes("a length in words", `POST /v1/links HTTP/1.1\r\n${head}Content-Length: two\r\n\r\n{}`, 400),
  bytes("a length in hexadecimal", `POST /v1/links HTTP/1.1\r\n${head}Content-Length: 0x2\r\n\r\n{}`, 400),
  bytes(
    "a length beyond 64 bits",
    `POST /v1/links HTTP/1.1\r\n${head}Content-Length: 99999999999999999999\r\n\r\n{}`,
    400,
  ),
  bytes(
    "a length of a terabyte",
    `POST /v1/links HTTP/1.1\r\n${head}Content-Length: 1099511627776\r\n\r\n{}`,
    413,
  ),
  bytes(
    "a length and chunks",
    `POST /v1/links HTTP/1.1\r\n${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ),
  bytes(
    "chunks and a length",
    `POST /v1/links HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`,
    400,
  ),
  bytes(
    "a transfer coding nobody knows",
    `POST /v1/links HTTP/1.1\r\n${head}Transfer-Encoding: pigeon\r\n\r\n{}`,
    400,
  ),
  bytes(
    "chunks that are not the last coding",
    `POST /v1/links HTTP/1.1\r\n${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    400,
  ),
  bytes(
    "a chunk without size",
    `POST /v1/links HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nx\r\n{}\r\n0\r\n\r\n`,
    400,
  ),
  bytes(
    "a chunk below zero",
    `POST /v1/links HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n`,
    400,
  ),
  bytes(
    "a chunk longer than its size",
    `POST /v1/links HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`,
    400,
  ),
  bytes(
    "a chunk size beyond 64 bits",
    `POST /v1/links HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n`,
    400,
  ),
  shortened(
    "a body shorter than its length",
    `POST /v1/links HTTP/1.1\r\n${head}Content-Length: 400\r\n\r\n{}`,
  ),
  shortened(
    "a body that ends within a chunk",
    `POST /v1/links HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n40\r\n{}`,
  ),
  bytes("a header without colon", `GET /v1/links HTTP/1.1\r\n${head}X-Nothing\r\n\r\n`, 400),
  bytes("a header without name", `GET /v1/links HTTP/1.1\r\n${head}: nothing\r\n\r\n`, 400),
  bytes("a space before the colon", `GET /v1/links HTTP/1.1\r\n${head}Content-Length : 2\r\n\r\n{}`, 400),
  bytes("a space within a header's name", `GET /v1/links HTTP/1.1\r\n${head}X Nothing: 1\r\n\r\n`, 400),
  bytes("a folded header", `GET /v1/links HTTP/1.1\r\n${head}X-Fold: a\r\n b\r\n\r\n`, 400),
  bytes("a NUL in a header", `GET /v1/links HTTP/1.1\r\n${head}X-Nul: a\0b\r\n\r\n`, 400),
  bytes("a carriage return within a header", `GET /v1/links HTTP/1.1\r\n${head}X-Return: a\rb\r\n\r\n`, 400),
  bytes("headers of 32 KiB", `GET /v1/links HTTP/1.1\r\n${head}X-Long: ${"a".repeat(32_768)}\r\n\r\n`, 431),
  bytes("a path of 32 KiB", `GET /v1/links/${"a".repeat(32_768)} HTTP/1.1\r\n${head}\r\n`, 431),
  bytes(
    "a token of 32 KiB",
    `GET /v1/links HTTP/1.1\r\nHost: localhost:«port»\r\nAuthorization: Bearer ${"a".repeat(32_768)}\r\n\r\n`,
    431,
  ),
  bytes("no host", "GET /v1/links HTTP/1.1\r\nAuthorization: Bearer «token»\r\n\r\n", 400),
  bytes("two hosts", `GET /v1/links HTTP/1.1\r\n${head}Host: evil.example\r\n\r\n`, 400),
  bytes("a version nobody speaks", `GET /v1/links HTTP/3.7\r\n${head}\r\n`, 400),
  bytes("HTTP/0.9", "GET /v1/links\r\n\r\n", 400),
  bytes("no path", `GET HTTP/1.1\r\n${head}\r\n`, 400),
  bytes("a path with a space", `GET /v1/links menu HTTP/1.1\r\n${head}\r\n`, 400),
  bytes("a path with a NUL", `GET /v1/li\0nks HTTP/1.1\r\n${head}\r\n`, 400),
  bytes("a method nobody knows", `FROBNICATE /v1/links HTTP/1.1\r\n${head}\r\n`, 400),
  bytes("a method in lower case", `get /v1/links HTTP/1.1\r\n${head}\r\n`, 400),
  bytes("an expectation nobody can meet", `GET /v1/links HTTP/1.1\r\n${head}Expect: tea\r\n\r\n`, 417),
  bytes(
    "a body too large, announced to be asked for",
    `POST /v1/links HTTP/1.1\r\n${head}Expect: 100-continue\r\nContent-Length: 9000000\r\n\r\n`,
    413,
  ),
  unfinished("a tunnel", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n"),
  bytes("TLS on a port without", "\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03", 400),
  bytes("empty lines only", "\r\n\r\n\r\n\r\nx\r\n\r\n", 400),
  bytes("another protocol", "SSH-2.0-OpenSSH_9.9\r\n", 400),
  bytes("zero bytes", "\0".repeat(64), 400),
  unfinished("the preface of HTTP/2 cut short", "PRI * HTTP/2.0\r\n\r\nSM\r\n"),
  bytes("the preface of HTTP/2 misspelt", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", 400),
];
