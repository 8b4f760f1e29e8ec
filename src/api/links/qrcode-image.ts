import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import type { LinkMessageOptions } from "./message.ts";
import { findImageStates, type ImageState, type LinkInclude } from "./queries.ts";

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
 * Waits until the QR images of links are drawn, for at most `qrcodeWaitMs`. Gives those that are drawn by then, by the
 * link's id. Not for use in a transaction, because nobody else sees the links before the transaction ends.
 */
export async function awaitImages(
  { qrcodeWaitMs }: Deps,
  { db, signal }: Pick<Context, "db" | "signal">,
  { workspaceId, linkIds }: { readonly workspaceId: string; readonly linkIds: readonly string[] },
): Promise<ReadonlyMap<string, ImageState>> {
  const timeUp = AbortSignal.timeout(qrcodeWaitMs);
  const drawn = new Map<string, ImageState>();
  let waiting = linkIds;
  for (let pause = pollMsFirst; !timeUp.aborted; pause = Math.min(pause * 2, pollMsMax)) {
    await sleep(pause, undefined, { signal });
    const states = await findImageStates(db, workspaceId, waiting);
    for (const { id, ...state } of states)
      if (state.qrcode_pending_update_since === null) drawn.set(id, state);
    // Links that are gone are waited for no longer.
    waiting = states.flatMap(({ id, qrcode_pending_update_since: since }) => (since === null ? [] : [id]));
    if (waiting.length === 0) break;
  }
  return drawn;
}
