import type { IncomingMessage } from "node:http";
import { fail } from "../lib/errors.ts";
import { type BodyBudget, createBodyBudget } from "../lib/limits/body-budget.ts";
import { announcedLength, receiveBody } from "../lib/limits/request-body.ts";

/** Far more than any of our forms sends. */
const bytesMax = 16 * 1024;

/** What all bodies that this process reads here may take, in bytes. */
const budget: BodyBudget = createBodyBudget({ total: 8 * 1024 * 1024, perAddress: 512 * 1024 });

/** Receives the body of a request as text, when its media type is the wanted one. Throws a `CallError` otherwise. */
export async function readBody(
  req: IncomingMessage,
  { mediaType, address }: { readonly mediaType: string; readonly address: string },
): Promise<string> {
  const type = req.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== mediaType) {
    throw fail("INVALID_ARGUMENT", "UNSUPPORTED_MEDIA_TYPE", `send the body as ${mediaType}`, {
      httpStatus: 415,
    });
  }
  const hold = budget.open(address);
  try {
    return String(await receiveBody(req, { bytesMax, announced: announcedLength(req), hold, tooLarge }));
  } finally {
    hold.release();
  }
}

function tooLarge(max: number) {
  const message = `the body may have ${max} bytes at most`;
  return fail("INVALID_ARGUMENT", "REQUEST_TOO_LARGE", message, { httpStatus: 413 });
}

/** Parses a body. Throws INVALID_ARGUMENT for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", "the body is no JSON");
  }
}
