import { createReadStream } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

export interface Upload {
  readonly url: URL;
  readonly headers: Headers;
  readonly path: string;
  readonly size: number;
  readonly signal: AbortSignal;
}

/**
 * Sends a file by PUT, no faster than the server takes it: fetch reads files ahead of what it sends, 900 MB of a file
 * of 900 MB.
 */
export async function uploadFile({
  url,
  headers,
  path,
  size,
  signal,
}: Upload): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const given = { ...Object.fromEntries(headers), "content-length": String(size) };
  const request = send(url, { method: "PUT", headers: given, signal });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.on("response", resolve);
    request.on("error", reject);
  });
  // A server may refuse the file before it has read all of it; its answer says why.
  const [response] = await Promise.all([
    answer,
    Promise.race([pipeline(createReadStream(path), request), answer]),
  ]);
  return { status: response.statusCode ?? 0, bytes: await buffer(response) };
}
