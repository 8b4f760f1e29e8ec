import { Agent, request } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { echo, serveSpecimens } from "./serve.ts";

const faults: unknown[] = [];
const { port } = await serveSpecimens(echo, { onFault: (error) => faults.push(error) });
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const paths = [
  ...[
    "/v1/specimens",
    "/v1/specimens/7",
    "/v1/specimens/7:cancel",
    "/v1/specimens/batch",
    "/v1/counts/COLOR_RED/1",
  ],
  ...["/v1/shelves/1/books/2", "/v1/files/a/b", "/v1/mirror", "/v1/specimens/images:resolve"],
];
const fieldNames = [
  ...[
    "id",
    "displayName",
    "enabled",
    "int32Value",
    "uint64_value",
    "doubleValue",
    "bytesValue",
    "color",
    "tags",
  ],
  ...[
    "bigNumbers",
    "colors",
    "children",
    "metadata",
    "colorsByNumber",
    "childrenByFlag",
    "child",
    "createdAt",
  ],
  ...["delay", "mask", "struct", "value", "listValue", "any", "stringWrapper", "choiceInt32", "choiceChild"],
  ...["updateMask", "specimen", "count", "__proto__", "constructor", "toString", "@type"],
];

const percentEscape = fc.constantFrom(
  "%2F",
  "%2f",
  "%00",
  "%ff",
  "%zz",
  "%",
  "%C3%A9",
  "%F0%9F%98%80",
  "%ed%a0%80",
  "%7B",
  ":",
  "+",
);
const urlText = fc
  .array(fc.oneof(percentEscape, fc.stringMatching(/^[!-~]{0,4}$/)), { maxLength: 6 })
  .map((parts) => parts.join(""));
const path = fc.oneof(
  fc.constantFrom(...paths),
  fc.tuple(fc.constantFrom(...paths), urlText).map(([base, tail]) => `${base}${tail}`),
  fc
    .array(fc.oneof(urlText, fc.constantFrom("v1", "specimens", "", "..", "files")), { maxLength: 8 })
    .map((parts) => `/${parts.join("/")}`),
);
const name = fc.oneof(
  fc.constantFrom(...fieldNames),
  fc.array(fc.constantFrom(...fieldNames), { maxLength: 5 }).map((steps) => steps.join(".")),
  urlText,
);
const query = fc
  .array(fc.tuple(name, urlText), { maxLength: 5 })
  .map((pairs) => pairs.map((pair) => pair.join("=")).join("&"));

const scalar = fc.oneof(
  ...[fc.string({ unit: "binary" }), fc.double(), fc.integer(), fc.boolean(), fc.constant(null)],
  fc.constantFrom<unknown>(
    "COLOR_RED",
    "1e999",
    "2026-01-31T12:00:00Z",
    "-1s",
    "AQ==",
    "\ud800",
    "\0",
    2 ** 53,
    -0,
  ),
);
const { value: json } = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, scalar, fc.array(tie("value"), { maxLength: 4 }), tie("object")),
  object: fc.dictionary(fc.oneof(fc.constantFrom(...fieldNames), fc.string()), tie("value"), { maxKeys: 6 }),
}));
const jsonText = json.map((value) => JSON.stringify(value));
const broken = fc.tuple(jsonText, fc.nat(), fc.string({ maxLength: 3 })).map(([text, at, junk]) => {
  const cut = at % (text.length + 1);
  return text.slice(0, cut) + junk + text.slice(cut + 1);
});
const body = fc.oneof(
  { weight: 4, arbitrary: jsonText.map((text) => Buffer.from(text)) },
  { weight: 2, arbitrary: broken.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 90, max: 5_000 }).map((depth) => Buffer.from('{"child":'.repeat(depth))),
  },
  { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
);
const contentType = fc.oneof(
  { weight: 8, arbitrary: fc.constant("application/json") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", "text/plain", "application/json; charset=x", "image/png", ";;=="),
  },
);

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly type: string;
  readonly body: Buffer;
}

function send({
  method,
  path,
  query,
  type,
  body,
}: Sent): Promise<{ status: number; text: string; type: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    text: string;
    type: string;
  }>();
  const headers = { "content-type": type, "content-length": body.length };
  const target = query === "" ? path : `${path}?${query}`;
  const req = request({ port, host: "127.0.0.1", agent, method, path: target, headers }, (res) => {
    let text = "";
    res.setEncoding("utf8");
    res.on("data", (chunk: string) => {
      text += chunk;
    });
    res.on("error", reject);
    res.on("end", () =>
      resolve({ status: res.statusCode ?? 0, text, type: res.headers["content-type"] ?? "" }),
    );
  });
  req.on("error", reject);
  req.end(body);
  return promise;
}

/** Describes what is wrong with an answer; empty if nothing is. */
function complaint(sent: Sent, answer: { status: number; text: string; type: string }): string {
  const { status, text, type } = answer;
  if (status !== 200 && (status < 400 || status > 499)) return `status ${status}`;
  if (sent.method === "HEAD") return text === "" ? "" : "a body";
  // Mirror returns the bytes and the type of its request.
  if (status === 200)
    return type !== "application/json" || sent.path === "/v1/mirror" || isJson(text) ? "" : "no JSON";
  const error = isJson(text) ? (JSON.parse(text) as { error?: Record<string, unknown> }).error : undefined;
  if (error === undefined || Object.keys(error).join() !== "code,codeType,message,details")
    return "no error body";
  const details = Array.isArray(error.details) ? error.details : [];
  const info = details.find((detail) => detail["@type"] === "type.googleapis.com/google.rpc.ErrorInfo");
  return error.code === status && info?.reason === error.codeType ? "" : "a wrong error body";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("every request is answered with 200 or a 4xx and a complete error body", async () => {
  const seen = new Set<number>();
  const call = fc.record({ method: fc.constantFrom(...methods), path, query, type: contentType, body });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 20, maxLength: 20, size: "max" }), async (batch) => {
      const answers = await Promise.all(batch.map(send));
      for (const { status } of answers) seen.add(status);
      const complaints = batch.map((sent, index) =>
        complaint(sent, answers[index] ?? { status: 0, text: "", type: "" }),
      );
      expect(complaints.filter((text) => text !== "")).toEqual([]);
    }),
    { seed: 7_2026, numRuns: 300 },
  );
  expect(faults).toEqual([]);
  // The generator reaches every intended outcome.
  expect([...seen].sort((a, b) => a - b)).toEqual([200, 400, 404, 405, 415]);
  agent.destroy();
}, 120_000);

test("any JSON is read as a specimen or refused", async () => {
  const post = (text: Buffer) =>
    send({ method: "POST", path: "/v1/specimens", query: "", type: "application/json", body: text });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.constantFrom(...fieldNames), json), {
        minLength: 10,
        maxLength: 10,
        size: "max",
      }),
      async (bodies) => {
        const answers = await Promise.all(bodies.map((value) => post(Buffer.from(JSON.stringify(value)))));
        expect(answers.filter(({ status }) => status !== 200 && status !== 400)).toEqual([]);
      },
    ),
    { seed: 8_2026, numRuns: 200 },
  );
  expect(faults).toEqual([]);
}, 120_000);
