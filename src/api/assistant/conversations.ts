import type { AssistantGetConversationRequest } from "../../../gen/signpost/v1/assistant_service_pb.js";
import type { Record } from "../../assistant/sub-assistants.ts";
import { type Caller, type Context, callerOf } from "../../rpc/handlers.ts";
import { notFound } from "../resources/not-found.ts";
import { fromContextType } from "./message.ts";
import { findRecord, type Place } from "./queries.ts";

type Named = Pick<AssistantGetConversationRequest, "contextType" | "contextId">;

/** Finds the conversation that a request names, and its record. Throws NOT_FOUND without a record. */
export async function findConversation(
  { contextType, contextId }: Named,
  context: Context,
): Promise<{ readonly place: Place; readonly record: Record }> {
  const { workspaceId } = callerOf(context);
  const subject = fromContextType(contextType);
  const isOther = subject === "WORKSPACE" && contextId.toLowerCase() !== workspaceId;
  const record = isOther ? undefined : await findRecord(context.db, workspaceId, { subject, id: contextId });
  if (record === undefined)
    throw notFound(subject.toLowerCase().replaceAll("_", " "), "contextId", contextId);
  return { place: { workspaceId, subject, recordId: record.id }, record };
}

/** Who a caller is to the assistant: files and offers are for one caller only. */
export function callerIdOf({ tokenId, grantId, memberId }: Caller): string {
  const id = tokenId ?? grantId ?? memberId;
  if (id === undefined) throw new Error("a caller without an id was let through");
  return id;
}
