import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import type { LinkMessageOptions } from "./message.ts";
import { findImageState, type ImageState, type LinkInclude } from "./queries.ts";

/**
 * How often the database is asked for an image that a call waits for, in milliseconds: often at first, then less often.
 */
const pollMsFirst = 10;
const pollMsMax = 250;

const nothing: ReadonlySet<LinkInclude> = new Set();

/** How to show links that embed the given objects. The addresses of images are good for an hour from now. */
export function messageOptions(deps: Deps, include: ReadonlySet<LinkInclude> = nothing): LinkMessageOptions {
  return {
    shortUrl: deps.shortUrl,
    showsImage: include.has("qrcodeSignedUrl"),
    signFile: fileSigner(deps),
  };
}

/**
 * Waits until the QR image of a link is drawn, for at most `qrcodeWaitMs`. Undefined when it is not drawn by then, or
 * the link is gone. Not for use in a transaction, because nobody else sees the link before the transaction ends.
 */
export async function awaitImage(
  { qrcodeWaitMs }: Deps,
  { db, signal }: Pick<Context, "db" | "signal">,
  { workspaceId, linkId }: { readonly workspaceId: string; readonly linkId: string },
): Promise<ImageState | undefined> {
  const timeUp = AbortSignal.timeout(qrcodeWaitMs);
  for (let pause = pollMsFirst; !timeUp.aborted; pause = Math.min(pause * 2, pollMsMax)) {
    await sleep(pause, undefined, { signal });
    const state = await findImageState(db, workspaceId, linkId);
    if (state === undefined) return undefined;
    if (state.qrcode_pending_update_since === null) return state;
  }
  return undefined;
}
