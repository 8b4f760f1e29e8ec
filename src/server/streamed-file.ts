import { createHash } from "node:crypto";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ByteRange, Storage } from "../lib/storage/storage.ts";
import { contentTypeOf } from "../lib/storage/storage-key.ts";
import type { HttpAnswer, HttpRequest } from "./http.ts";

/** Whether a stored file is an export, which may be larger than memory. */
export function isStreamed(storageKey: string): boolean {
  return storageKey.startsWith("exports/");
}

/**
 * Answers with a file for saving, as a stream that goes as fast as the client reads, or with one range of it. False when
 * there is no such file, and nothing was answered. The content of a streamed file never changes, so its key tells it.
 */
export async function answerStreamed(
  storage: Storage,
  { key, cacheControl }: { readonly key: string; readonly cacheControl: string },
  req: HttpRequest,
  res: HttpAnswer,
): Promise<boolean> {
  const size = await storage.sizeOf(key);
  if (size === undefined) return false;
  const etag = `"${createHash("sha256").update(key).digest("base64url")}"`;
  const headers = {
    etag,
    "cache-control": cacheControl,
    "x-content-type-options": "nosniff",
    "accept-ranges": "bytes",
    // Keys hold no character that would need quoting.
    "content-disposition": `attachment; filename="${key.slice(key.lastIndexOf("/") + 1)}"`,
    "content-type": contentTypeOf(key),
  };
  const range = isFresh(req, etag) ? rangeOf(req.headers.range, size) : undefined;
  if (range === "unsatisfiable") {
    res.writeHead(416, { ...headers, "content-range": `bytes */${size}`, "content-length": 0 });
    res.end();
    return true;
  }
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const length = { "content-length": last - first + 1 };
  const stream = req.method === "HEAD" ? undefined : await storage.read(key, { first, last });
  if (stream === undefined && req.method !== "HEAD") return false;
  if (range === undefined) res.writeHead(200, { ...headers, ...length });
  else res.writeHead(206, { ...headers, ...length, "content-range": `bytes ${first}-${last}/${size}` });
  if (stream === undefined) res.end();
  // A client that goes away, and a storage that fails in the middle, end both sides. Nobody is left to tell.
  else await pipeline(stream, res as HttpAnswer & Writable).catch(() => {});
  return true;
}

/** Whether the client still has the beginning of this very file. */
function isFresh({ headers }: HttpRequest, etag: string): boolean {
  const condition = headers["if-range"];
  return condition === undefined || condition === etag;
}

/** The one range that is asked for. Undefined for the whole file, also when several ranges are asked for. */
function rangeOf(header: string | undefined, size: number): ByteRange | "unsatisfiable" | undefined {
  const [matched, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (matched === undefined || from + to === "") return undefined;
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  return first > last ? "unsatisfiable" : { first, last };
}
