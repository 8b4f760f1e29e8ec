import type { IncomingMessage } from "node:http";
import type { Answer } from "../../workflow/steps/step.ts";

/** Fifty fields of 4 KB each, escaped. No form of ours sends more. */
export const formBytesMax = 1024 * 1024;

/** A posted form, or the status that says why the body is not a form. */
export type PostedForm = { readonly answer: Answer } | { readonly status: 400 | 413 | 415 };

/** Reads an `application/x-www-form-urlencoded` body, which is what pages post. Rejects when the visitor hangs up. */
export async function readForm(req: IncomingMessage): Promise<PostedForm> {
  const type = req.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type !== "application/x-www-form-urlencoded") return { status: 415 };
  const body = await bodyOf(req, formBytesMax);
  if (body === undefined) return { status: 413 };
  const text = body.toString();
  const answer = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = answer.get(name);
    // Browsers send line breaks of texts as CR LF; PostgreSQL keeps no NUL.
    const plain = value.replaceAll("\r\n", "\n").replaceAll("\0", "");
    if (values === undefined) answer.set(name, [plain]);
    else values.push(plain);
  }
  return { answer };
}

/** The body of a request. Undefined when it is longer than `bytesMax`; the rest is then left unread. */
export async function bodyOf(req: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  if (Number(req.headers["content-length"] ?? 0) > bytesMax) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req) {
    // The request's encoding is never set, so chunks are buffers.
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > bytesMax) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/**
 * Whether a post comes from a page of this host. Every current browser sends `Origin` with posts, and then `Origin`
 * decides. Without it the device's cookie decides, because browsers do not send that cookie with posts from other sites
 * (SameSite=Lax). Visits that keep no cookie need `Origin`.
 */
export function isOwnPost(
  origin: string | undefined,
  host: { readonly scheme: string; readonly host: string | undefined },
  device: { readonly keepsCookie: boolean; readonly cookieWasSent: boolean; readonly hasCookie: boolean },
): boolean {
  // The post comes from another device: the address was passed on, and the answers would count as the visitor's.
  if (device.keepsCookie && device.cookieWasSent && !device.hasCookie) return false;
  if (origin !== undefined) return origin === `${host.scheme}://${host.host ?? ""}`;
  return device.keepsCookie && device.hasCookie;
}
