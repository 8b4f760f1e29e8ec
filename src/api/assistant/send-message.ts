import { create } from "@bufbuild/protobuf";
import {
  type AssistantSendMessageRequest,
  type AssistantSendMessageResponse,
  AssistantStreamMessageResponseSchema,
} from "../../../gen/signpost/v1/assistant_service_pb.js";
import { type Answer, converse } from "../../assistant/converse.ts";
import { type Model, ModelFault } from "../../assistant/model.ts";
import { confirmedIn, offersText } from "../../assistant/offers.ts";
import { toolsOf } from "../../assistant/sub-assistants.ts";
import { type CallError, fail } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { type Context, callerOf, type Write } from "../../rpc/handlers.ts";
import { actOf } from "./act.ts";
import { confirm } from "./confirm.ts";
import { callerIdOf, findConversation } from "./conversations.ts";
import type { AssistantDeps } from "./deps.ts";
import { buttonsOf, toUiAction } from "./message.ts";
import { takePlace } from "./payment.ts";
import { readTurn } from "./read-turn.ts";
import { storeAnswer } from "./store-answer.ts";

type Response = Pick<AssistantSendMessageResponse, "responseText" | "appliedActions" | "contextUpdated"> & {
  readonly uiActions: ReturnType<typeof toUiAction>[];
};

/** How long the model may take for one message, in milliseconds: less than a call may take. */
const answerMs = 45_000;

/**
 * Lets the assistant answer. What it changes meanwhile stays, whatever becomes of the call. The message and its answer are
 * stored and paid for in the second part, so that a call that fails has no message and costs nothing.
 */
export async function sendMessage(
  deps: AssistantDeps,
  request: AssistantSendMessageRequest,
  context: Context,
): Promise<Write<Response>> {
  const { model } = deps;
  if (model === undefined) throw unavailable("no model is configured for the assistant");
  const { place, record } = await findConversation(request, context);
  const at = deps.now();
  const paid = await takePlace(deps, context, at);
  const sender = { workspaceId: place.workspaceId, callerId: callerIdOf(callerOf(context)) };
  const tools = toolsOf(place.subject, record, await deps.toolFacts());
  tell(context, "");
  const offerId = confirmedIn(request.message);
  const { answer, files } =
    offerId === undefined
      ? await ask({ ...deps, model }, { request, context, place, sender, tools, at })
      : {
          answer: await confirm(context, { offerId, place, sender, tools, at }),
          files: [],
        };
  const offers = answer.offers.map((offer) => ({ ...offer, id: newId(deps.now()) }));
  const text = offers.length === 0 ? answer.text : `${answer.text}\n\n${offersText(offers)}`.trim();
  if (offers.length > 0) tell(context, `\n\n${offersText(offers)}`);
  const buttons = buttonsOf(offers);
  const stored = { place, sender, at, text, offers, buttons, files, answer, message: request.message };
  return async (db) => {
    await storeAnswer(db, deps, { ...stored, paid: answer.isAnswered ? paid : undefined });
    return {
      responseText: text,
      appliedActions: [...answer.changes],
      contextUpdated: answer.changes.length > 0,
      uiActions: buttons.map(toUiAction),
    };
  };
}

interface Asked
  extends Pick<Parameters<typeof readTurn>[1], "request" | "place" | "sender" | "tools" | "at"> {
  readonly context: Context;
}

async function ask(
  deps: AssistantDeps & { readonly model: Model },
  { context, ...asked }: Asked,
): Promise<{
  readonly answer: Answer;
  readonly files: Awaited<ReturnType<typeof readTurn>>["files"];
}> {
  const { files, ...turn } = await readTurn(context.db, asked);
  try {
    const answer = await converse(turn, {
      model: deps.model,
      act: actOf(context),
      isOwnHost: deps.isOwnHost,
      onText: (text) => tell(context, text),
      timeoutMs: answerMs,
    });
    return { answer, files };
  } catch (error) {
    throw error instanceof ModelFault ? unavailable(sayings[error.failing], error) : error;
  }
}

function tell(context: Context, text: string): void {
  context.tell(create(AssistantStreamMessageResponseSchema, { part: { case: "text", value: text } }));
}

const sayings: Readonly<Record<ModelFault["failing"], string>> = {
  late: "the assistant's model takes too long",
  busy: "the assistant's model has too much to do",
  away: "the assistant's model does not work",
  garbled: "the assistant's model gave no answer that makes sense",
};

function unavailable(message: string, cause?: ModelFault): CallError {
  const isPassing = cause !== undefined;
  return fail("UNAVAILABLE", "ASSISTANT_UNAVAILABLE", isPassing ? `${message}; try again` : message, {
    ...(isPassing && { retryAfterSeconds: cause.retryAfterSeconds ?? 5, cause }),
  });
}
