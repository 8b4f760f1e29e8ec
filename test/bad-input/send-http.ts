import { connect } from "node:net";
import type { HttpRequest } from "./row.ts";

/** How long a connection may stay open without an answer, in milliseconds. */
const msMax = 15_000;

export interface HttpAnswer {
  readonly status: number;
  /** The names are in lower case; repeated headers are joined by a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/**
 * Writes a request exactly as given; wrong headers stay wrong. Adds `host` and `content-length` where they are missing.
 */
export function requestBytes({ method, target, headers, body }: HttpRequest, port: number): Buffer {
  const content = Buffer.from(body);
  const names = new Set(headers.map(([name]) => name));
  const lines = [`${method} ${target} HTTP/1.1`];
  if (!names.has("host")) lines.push(`host: localhost:${port}`);
  if (content.length > 0 && !names.has("content-length")) lines.push(`content-length: ${content.length}`);
  lines.push(...headers.map(([name, value]) => `${name}: ${value}`), "", "");
  return Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), content]);
}

/**
 * Sends bytes on a connection of their own and reads the answer. Undefined when the server ends the connection without
 * an answer; rejects when neither comes. With `endMs` the client ends its side after that many milliseconds without an
 * answer.
 */
export function exchange(port: number, bytes: Uint8Array, endMs?: number): Promise<HttpAnswer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer | undefined>();
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
  const timer = setTimeout(() => reject(new Error(`neither answer nor end after ${msMax} ms`)), msMax);
  let received = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const answer = finalAnswer(received);
    if (answer?.isWhole === true) resolve(answer);
  });
  // A server that refuses a body may reset the connection while the client still sends it.
  socket.on("error", () => {});
  socket.on("end", () => resolve(finalAnswer(received)));
  socket.on("close", () => resolve(finalAnswer(received)));
  socket.write(bytes);
  const ending = endMs === undefined ? undefined : setTimeout(() => socket.end(), endMs);
  return promise.finally(() => {
    clearTimeout(timer);
    clearTimeout(ending);
    socket.destroy();
  });
}

interface ReceivedAnswer extends HttpAnswer {
  readonly isWhole: boolean;
}

/** The first answer after any preliminary ones, such as 100 Continue. */
function finalAnswer(received: Buffer): ReceivedAnswer | undefined {
  let rest = received;
  for (;;) {
    const answer = readAnswer(rest);
    if (answer === undefined || answer.status >= 200) return answer;
    rest = rest.subarray(rest.indexOf("\r\n\r\n") + 4);
  }
}

function readAnswer(bytes: Buffer): ReceivedAnswer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (!bytes.subarray(0, 7).equals(Buffer.from("HTTP/1.")) || end === -1) return undefined;
  const [statusLine = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers: Record<string, string | undefined> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const rest = bytes.subarray(end + 4);
  const status = Number(statusLine.split(" ")[1]);
  if (headers["transfer-encoding"] === "chunked")
    return { status, headers, body: unchunked(rest), isWhole: rest.toString("latin1").endsWith("0\r\n\r\n") };
  const isWhole = rest.length === Number(headers["content-length"] ?? Number.NaN);
  return { status, headers, body: rest, isWhole };
}

function unchunked(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.subarray(at, end).toString("latin1"), 16);
    if (end === -1 || !(size > 0)) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
