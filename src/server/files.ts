import type { OutgoingHttpHeaders } from "node:http";
import type { Logger } from "pino";
import { CallError, fail } from "../lib/errors.ts";
import { etagOf, matchesEtag, pictureHeaders } from "../lib/etag.ts";
import { filesPath, isPublicFile } from "../lib/storage/file-url.ts";
import { verifyUrl } from "../lib/storage/signed-url.ts";
import type { Storage } from "../lib/storage/storage.ts";
import { contentTypeOf } from "../lib/storage/storage-key.ts";
import type { HttpAnswer, HttpRequest } from "./http.ts";
import { answerStreamed, isStreamed } from "./streamed-file.ts";

export interface FilesDeps {
  readonly storage: Storage;
  /** The key that signed the addresses. */
  readonly signingKey: Uint8Array;
  readonly now: () => Date;
  readonly log: Pick<Logger, "error">;
}

interface Reply {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
}

/**
 * Serves stored files to GET and HEAD: private files at signed addresses, public files at any address. Answers
 * 403 when the signature is wrong or the address has expired, and 404 when there is no such file. Never rejects.
 */
export function filesHandler(deps: FilesDeps): (req: HttpRequest, res: HttpAnswer) => Promise<void> {
  return async (req, res) => {
    const replied = await reply(deps, req, res).catch((error: unknown) => refusal(deps, error));
    if (replied === undefined) return;
    const { status, headers, body } = replied;
    // A 304 has no body, so it gets no length.
    res.writeHead(status, status === 304 ? headers : { ...headers, "content-length": body.length });
    if (req.method === "HEAD" || status === 304) res.end();
    else res.end(body);
  };
}

/** The answer to a request; undefined once a stream has answered it. */
async function reply(
  { storage, signingKey, now }: FilesDeps,
  req: HttpRequest,
  res: HttpAnswer,
): Promise<Reply | undefined> {
  if (req.method !== "GET" && req.method !== "HEAD") {
    const refused = { httpStatus: 405, headers: { allow: "GET, HEAD" } };
    throw fail("UNIMPLEMENTED", "METHOD_NOT_ALLOWED", "files can only be read", refused);
  }
  const time = now();
  const { key: asked, cacheControl } = readable(req.url ?? "", time, signingKey);
  const isPicture = isPagePicture(asked);
  const key = isPicture && !acceptsWebp(req) ? plainPicture(asked) : asked;
  const isKey = contentTypeOf(key) !== undefined;
  if (isKey && isStreamed(key) && (await answerStreamed(storage, { key, cacheControl }, req, res)))
    return undefined;
  const file = isKey && !isStreamed(key) ? await storage.get(key) : undefined;
  if (file === undefined) throw fail("NOT_FOUND", "NOT_FOUND", "there is no such file", { httpStatus: 404 });

  const etag = etagOf(file.bytes);
  const headers = {
    etag,
    "cache-control": cacheControl,
    ...(isPicture ? { vary: "accept" } : {}),
    ...pictureHeaders,
  };
  if (matchesEtag(req.headers["if-none-match"], etag))
    return { status: 304, headers, body: new Uint8Array() };
  return { status: 200, headers: { ...headers, "content-type": file.contentType }, body: file.bytes };
}

/** Which file an address may read, and how long caches may keep the file. */
function readable(
  target: string,
  now: Date,
  signingKey: Uint8Array,
): { readonly key: string; readonly cacheControl: string } {
  const [path = ""] = target.split("?");
  const publicKey = keyOf(path);
  if (isPagePicture(publicKey))
    return { key: publicKey, cacheControl: "public, max-age=31536000, immutable" };
  // Caches keep a public file for five minutes without asking, and drop a deleted one after that time.
  if (isPublicFile(publicKey)) return { key: publicKey, cacheControl: "public, max-age=300" };
  const verdict = verifyUrl(target, now, signingKey);
  if (!verdict.ok) {
    const message =
      verdict.fault === "expired" ? "this address has expired" : "this address is not signed by us";
    throw fail("PERMISSION_DENIED", "PERMISSION_DENIED", message, { httpStatus: 403 });
  }
  const secondsLeft = Math.floor((verdict.expiresAt.getTime() - now.getTime()) / 1000);
  return { key: keyOf(verdict.path), cacheControl: `private, max-age=${secondsLeft}` };
}

/** Whether a file is one of the pictures of pages. Each is stored once, under a new random name, and never changes. */
function isPagePicture(storageKey: string): boolean {
  return storageKey.startsWith("public/pages/");
}

/** Browsers of before 2020 know no WEBP, and the programs of chats that fetch pictures do not say that they do. */
function acceptsWebp({ headers }: HttpRequest): boolean {
  return headers.accept?.includes("image/webp") === true;
}

/** The JPEG that stands beside the WEBP pictures of one shape: `tall.jpg` beside `tall-780x1688.webp`. */
function plainPicture(storageKey: string): string {
  const size = storageKey.lastIndexOf("-");
  return storageKey.endsWith(".webp") && size > 0 ? `${storageKey.slice(0, size)}.jpg` : storageKey;
}

function keyOf(path: string): string {
  return path.startsWith(filesPath) ? path.slice(filesPath.length) : "";
}

function refusal({ log }: FilesDeps, error: unknown): Reply {
  if (!(error instanceof CallError)) log.error({ err: error }, "a stored file could not be read");
  const { reason, message, refusal } =
    error instanceof CallError ? error : fail("INTERNAL", "INTERNAL", "internal error");
  const status = refusal.httpStatus ?? 500;
  const body = { error: { code: status, codeType: reason, message, details: [] } };
  return {
    status,
    headers: {
      ...refusal.headers,
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
    body: Buffer.from(JSON.stringify(body)),
  };
}
