import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { withoutEndSlashes } from "../end-slashes.ts";
import type { ByteRange, Storage } from "./storage.ts";
import { checkKey } from "./storage-key.ts";
import { uploadFile } from "./upload-file.ts";

export interface S3Config {
  /** The server's address, without the bucket: `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The most milliseconds of one attempt; 10,000 when absent. */
  readonly timeoutMs?: number;
  /** The milliseconds before the second attempt, doubled before each further one; 200 when absent. */
  readonly retryDelayMs?: number;
}

const attemptsMax = 4;

interface S3Request {
  readonly method: "PUT" | "GET" | "HEAD" | "DELETE";
  readonly key: string;
  readonly contentType?: string;
  readonly body?: Uint8Array;
  /** A local file as the body. */
  readonly file?: { readonly path: string; readonly size: number; readonly sha256: string };
  readonly range?: ByteRange;
}

interface S3Answer {
  readonly status: number;
  /** What the server says about the length. */
  readonly length: string;
  readonly bytes: Uint8Array;
}

/** The bandwidth below which an upload is given up: 512 KiB in a second. */
const slowestBytesPerMs = 512;

/**
 * Keeps files in a bucket of an S3-compatible server, with path-style addresses. Every call can be repeated without
 * harm.
 */
export function s3Storage(config: S3Config): Storage {
  return {
    async put(key, bytes, { contentType }) {
      const request: S3Request = { method: "PUT", key, contentType: checkKey(key, contentType), body: bytes };
      const answer = await sendUntilAnswered(config, request);
      if (answer.status !== 200) throw refusal(request, answer);
    },
    async get(key) {
      const contentType = checkKey(key);
      const request: S3Request = { method: "GET", key };
      const answer = await sendUntilAnswered(config, request);
      if (answer.status === 200) return { bytes: answer.bytes, contentType };
      // A missing bucket answers 404 too, and must not look like a missing file.
      if (answer.status === 404 && errorCode(answer) === "NoSuchKey") return undefined;
      throw refusal(request, answer);
    },
    async putFile(key, path, sha256) {
      const { size } = await stat(path);
      const request: S3Request = {
        method: "PUT",
        key,
        contentType: checkKey(key),
        file: { path, size, sha256 },
      };
      const answer = await sendUntilAnswered(config, request);
      if (answer.status !== 200) throw refusal(request, answer);
    },
    async sizeOf(key) {
      checkKey(key);
      const request: S3Request = { method: "HEAD", key };
      const answer = await sendUntilAnswered(config, request);
      if (answer.status === 200) return Number(answer.length);
      // The answer to HEAD has no body that tells a missing file from a missing bucket.
      if (answer.status === 404) return undefined;
      throw refusal(request, answer);
    },
    async read(key, range) {
      checkKey(key);
      const giveUp = new AbortController();
      // The limit holds until the answer begins. How long the rest takes is up to the reader.
      const timer = setTimeout(() => giveUp.abort(), config.timeoutMs ?? 10_000);
      const response = await fetchObject(config, { method: "GET", key, range }, giveUp.signal);
      clearTimeout(timer);
      if (response.status === 404) return undefined;
      if ((response.status !== 200 && response.status !== 206) || response.body === null)
        throw new Error(`object storage: GET ${key} answered ${response.status}`);
      return Readable.fromWeb(response.body);
    },
    async delete(key) {
      checkKey(key);
      const request: S3Request = { method: "DELETE", key };
      const answer = await sendUntilAnswered(config, request);
      const gone = answer.status === 404 && errorCode(answer) === "NoSuchKey";
      if (answer.status !== 204 && answer.status !== 200 && !gone) throw refusal(request, answer);
    },
  };
}

/** Sends a request, and repeats it after network faults, timeouts, 429 and 5xx. */
async function sendUntilAnswered(config: S3Config, request: S3Request): Promise<S3Answer> {
  for (let attempt = 1; ; attempt++) {
    let fault: Error;
    try {
      const answer = await send(config, request);
      if (answer.status < 500 && answer.status !== 429) return answer;
      fault = refusal(request, answer);
    } catch (cause) {
      fault = new Error(`object storage: ${request.method} ${request.key} got no answer`, { cause });
    }
    if (attempt === attemptsMax) throw fault;
    await sleep((config.retryDelayMs ?? 200) * 2 ** (attempt - 1));
  }
}

async function send(config: S3Config, request: S3Request): Promise<S3Answer> {
  const { file } = request;
  const uploadMs = Math.ceil((file?.size ?? 0) / slowestBytesPerMs);
  const signal = AbortSignal.timeout((config.timeoutMs ?? 10_000) + uploadMs);
  if (file !== undefined) {
    const { url, headers } = await signed(config, request);
    return { length: "", ...(await uploadFile({ ...file, url, headers, signal })) };
  }
  const response = await fetchObject(config, request, signal);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, length: response.headers.get("content-length") ?? "", bytes };
}

async function fetchObject(config: S3Config, request: S3Request, signal: AbortSignal): Promise<Response> {
  const { url, headers } = await signed(config, request);
  const body = request.body === undefined ? null : new Uint8Array(request.body);
  return fetch(url, { method: request.method, headers, body, redirect: "manual", signal });
}

function signed(config: S3Config, request: S3Request): Promise<{ url: URL; headers: Headers }> {
  const { method, key, contentType, body, file, range } = request;
  const signer = new AwsV4Signer({
    method,
    url: `${withoutEndSlashes(config.endpoint)}/${config.bucket}/${key}`,
    headers: {
      // The signed hash of the body lets the server refuse a body that was damaged on the way.
      "x-amz-content-sha256":
        file?.sha256 ??
        createHash("sha256")
          .update(body ?? "")
          .digest("hex"),
      ...(range === undefined ? {} : { range: `bytes=${range.first}-${range.last}` }),
      ...(contentType === undefined ? {} : { "content-type": contentType }),
    },
    accessKeyId: config.accessKeyId,
    secretAccessKey: config.secretAccessKey,
    region: config.region,
    service: "s3",
  });
  return signer.sign();
}

function errorCode(answer: S3Answer): string | undefined {
  return /<Code>(\w+)<\/Code>/.exec(Buffer.from(answer.bytes).toString())?.[1];
}

function refusal({ method, key }: S3Request, answer: S3Answer): Error {
  const code = errorCode(answer);
  return new Error(
    `object storage: ${method} ${key} answered ${answer.status}${code === undefined ? "" : ` ${code}`}`,
  );
}
