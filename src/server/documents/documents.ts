import { createHash } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import { acceptedEncoding, type Encoding, encode } from "../compressed.ts";
import type { HttpAnswer, HttpRequest } from "../http.ts";

/** A document that is the same for every reader. */
export interface Document {
  readonly contentType: string;
  /** Reads the document when it is first requested, so that an unread document costs neither start time nor memory. */
  readonly read: () => Promise<Buffer>;
  /** Headers beside those of every document. */
  readonly headers?: OutgoingHttpHeaders;
}

interface Representation {
  readonly bytes: Buffer;
  readonly etag: string;
}

// Pages of any origin may read these documents; nothing in them belongs to a caller.
export const everywhere = { "access-control-allow-origin": "*" };

/**
 * Serves documents by their paths. It answers GET and HEAD, with strong ETags, compressed where the client accepts it.
 * Rejects when a document cannot be read.
 */
export function documentsHandler(
  documents: ReadonlyMap<string, Document>,
): (req: HttpRequest, res: HttpAnswer) => Promise<void> {
  const made = new Map<string, Promise<Representation>>();

  function representation(path: string, document: Document, encoding: Encoding): Promise<Representation> {
    const key = `${encoding} ${path}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const making = represent(document, encoding);
    made.set(key, making);
    making.catch(() => made.delete(key));
    return making;
  }

  return async (req, res) => {
    if (req.method !== "GET" && req.method !== "HEAD") return end(res, 405, { allow: "GET, HEAD" });
    const path = req.url?.split("?", 1)[0] ?? "";
    const document = documents.get(path);
    if (document === undefined) return end(res, 404, {});
    const encoding = acceptedEncoding(req.headers["accept-encoding"]?.toString());
    const { bytes, etag } = await representation(path, document, encoding);
    const headers = {
      etag,
      vary: "accept-encoding",
      "cache-control": "public, max-age=300",
      "x-content-type-options": "nosniff",
      ...document.headers,
    };
    if (matches(req.headers["if-none-match"], etag)) return end(res, 304, headers);
    res.writeHead(200, {
      ...headers,
      "content-type": document.contentType,
      ...(encoding === "identity" ? {} : { "content-encoding": encoding }),
      "content-length": bytes.length,
    });
    res.end(req.method === "HEAD" ? undefined : bytes);
  };
}

/** A document that is this text. */
export function text(value: string): Document["read"] {
  return async () => Buffer.from(value);
}

/** A document that is this JSON. */
export function json(value: object): Document["read"] {
  return text(`${JSON.stringify(value)}\n`);
}

/** Encodes a document. Each encoding has its own ETag, because its bytes differ (RFC 9110, 8.8.3). */
async function represent({ read }: Document, encoding: Encoding): Promise<Representation> {
  const bytes = await read();
  const hash = createHash("sha256").update(bytes).digest("base64url");
  const etag = encoding === "identity" ? `"${hash}"` : `"${hash}-${encoding}"`;
  return { bytes: await encode(bytes, encoding), etag };
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? "").split(",").some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim()));
}

function end(res: HttpAnswer, status: number, headers: OutgoingHttpHeaders): void {
  res.writeHead(status, { "x-content-type-options": "nosniff", ...headers });
  res.end();
}
