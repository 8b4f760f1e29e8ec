import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export type S3Failure = "hangs up" | "never answers" | "internal error" | "slow down";

export interface S3TestServer {
  readonly endpoint: string;
  /** Makes the next requests fail in these ways. */
  failNext(...failures: S3Failure[]): void;
  /** The number of requests so far, including refused ones. */
  requestCount(): number;
  close(): Promise<void>;
}

export const s3Credentials = {
  bucket: "files",
  region: "eu-test-1",
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "secret/with+signs",
} as const;

/**
 * One bucket in memory behind the S3 protocol, for whole objects. It checks the Signature Version 4 of every request
 * with code written from the protocol's description, independent of the client under test.
 */
export async function startS3Server(): Promise<S3TestServer> {
  const objects = new Map<string, { bytes: Buffer; contentType: string }>();
  const failures: S3Failure[] = [];
  let requests = 0;

  const server = createServer(async (req, res) => {
    requests++;
    const body = await buffer(req);
    const failure = failures.shift();
    if (failure === undefined) answer(req, res, body);
    else if (failure === "hangs up") req.socket.destroy();
    else if (failure === "internal error") refuse(res, 500, "InternalError");
    else if (failure === "slow down") refuse(res, 429, "SlowDown");
  });

  function answer(req: IncomingMessage, res: ServerResponse, body: Buffer): void {
    const fault = signatureFault(req, body);
    const [, bucket, ...rest] = (req.url ?? "").split("/");
    const key = decodeURIComponent(rest.join("/"));
    const object = objects.get(key);
    if (fault !== undefined) refuse(res, 403, fault);
    else if (bucket !== s3Credentials.bucket) refuse(res, 404, "NoSuchBucket");
    else if (req.method === "PUT") {
      objects.set(key, { bytes: body, contentType: req.headers["content-type"] ?? "binary/octet-stream" });
      res.end();
    } else if (req.method === "DELETE") {
      objects.delete(key);
      res.writeHead(204).end();
    } else if (object === undefined) refuse(res, 404, "NoSuchKey");
    else send(req, res, object);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a TCP server's address is an AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    failNext: (...next) => void failures.push(...next),
    requestCount: () => requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(
  req: IncomingMessage,
  res: ServerResponse,
  object: { readonly bytes: Buffer; readonly contentType: string },
): void {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? "") ?? [];
  const bytes = first === undefined ? object.bytes : object.bytes.subarray(Number(first), Number(last) + 1);
  const headers = { "content-type": object.contentType, "content-length": bytes.length };
  res.writeHead(first === undefined ? 200 : 206, headers);
  res.end(req.method === "HEAD" ? undefined : bytes);
}

function refuse(res: ServerResponse, status: number, code: string): void {
  res.writeHead(status, { "content-type": "application/xml" });
  res.end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
}

const authorizationPattern =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;

/** The S3 error code for a faulty signature; undefined when the signature is valid. */
function signatureFault(req: IncomingMessage, body: Buffer): string | undefined {
  const parts = authorizationPattern.exec(req.headers.authorization ?? "");
  if (parts === null) return "AccessDenied";
  const [, accessKeyId = "", day = "", region = "", signedHeaders = "", given = ""] = parts;
  if (accessKeyId !== s3Credentials.accessKeyId) return "InvalidAccessKeyId";
  if (region !== s3Credentials.region) return "AuthorizationHeaderMalformed";
  const names = signedHeaders.split(";");
  for (const required of ["host", "x-amz-content-sha256", "x-amz-date"])
    if (!names.includes(required)) return "AccessDenied";
  const time = header(req, "x-amz-date");
  if (!time.startsWith(day)) return "AccessDenied";
  if (header(req, "x-amz-content-sha256") !== sha256(body)) return "XAmzContentSHA256Mismatch";

  const [path = "", query = ""] = (req.url ?? "").split("?");
  const headerLines = names.map((name) => `${name}:${header(req, name)}\n`).join("");
  const canonical = [req.method, path, query, headerLines, signedHeaders, sha256(body)].join("\n");
  const scope = [day, region, "s3", "aws4_request"];
  let key: Buffer = Buffer.from(`AWS4${s3Credentials.secretAccessKey}`);
  for (const part of scope) key = hmac(key, part);
  const expected = hmac(key, ["AWS4-HMAC-SHA256", time, scope.join("/"), sha256(canonical)].join("\n"));
  return timingSafeEqual(expected, Buffer.from(given, "hex")) ? undefined : "SignatureDoesNotMatch";
}

function header(req: IncomingMessage, name: string): string {
  return [req.headers[name] ?? ""].flat().join(",").trim();
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}
