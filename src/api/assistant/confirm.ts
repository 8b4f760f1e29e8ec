import type { JsonObject } from "@bufbuild/protobuf";
import type { Answer } from "../../assistant/converse.ts";
import type { Tool } from "../../assistant/tools.ts";
import { CallError, fail } from "../../lib/errors.ts";
import type { Context } from "../../rpc/handlers.ts";
import { actOf } from "./act.ts";
import type { Place, Sender } from "./queries.ts";
import { takeOffer } from "./writes.ts";

interface Confirmed {
  readonly offerId: string;
  readonly place: Place;
  readonly sender: Sender;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly at: Date;
}

/** Does what was offered, once, for the caller to whom it was shown. No model has a part in it. */
export async function confirm(
  context: Context,
  { offerId, place, sender, tools, at }: Confirmed,
): Promise<Answer> {
  const offer = await takeOffer(context.db, place, { id: offerId, callerId: sender.callerId, at });
  const tool = offer && tools.get(offer.tool);
  if (offer === undefined || tool === undefined)
    throw fail(
      "NOT_FOUND",
      "NOT_FOUND",
      `message: nothing is offered to you as ${offerId}; it was done, or 15 minutes have passed`,
    );
  // It was written by `storeOffers`.
  const request: JsonObject = JSON.parse(offer.request);
  const told = { offers: [], isTainted: false, isAnswered: true };
  try {
    await actOf(context)(tool, request);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return { ...told, changes: [], text: `Not done: ${tool.title}. ${error.message}`, isTainted: true };
  }
  return { ...told, changes: [tool.name], text: `Done: ${tool.title}.` };
}
