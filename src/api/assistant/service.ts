import type { AssistantService } from "../../../gen/signpost/v1/assistant_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { type Fault, invalidArgument } from "../../lib/errors.ts";
import { type Handlers, inTwoParts, withCheck } from "../../rpc/handlers.ts";
import { findConversation } from "./conversations.ts";
import type { AssistantDeps } from "./deps.ts";
import { toDisplayMessage } from "./message.ts";
import { listMessages, messagesMax } from "./queries.ts";
import { sendMessage } from "./send-message.ts";
import { prepareUpload } from "./upload.ts";
import { deleteConversation, markRead } from "./writes.ts";

export function assistantService(deps: AssistantDeps): Handlers<typeof AssistantService> {
  return {
    async getConversation(request, context) {
      const { place } = await findConversation(request, context);
      const rows = await listMessages(context.db, place, messagesMax);
      const unread = rows.filter((row) => !row.is_from_user && row.read_at === null);
      return { messages: rows.map(toDisplayMessage), unreadCount: unread.length };
    },

    async clearConversation(request, context) {
      const { place } = await findConversation(request, context);
      await inTransaction(context.db, (tx) => deleteConversation(tx, place));
      return {};
    },

    async markConversationRead(request, context) {
      const { place } = await findConversation(request, context);
      return { markedCount: await markRead(context.db, place, deps.now()) };
    },

    // The model answers before the transaction.
    sendMessage: withCheck(
      ({ contextMetadata }) => viewFaults(contextMetadata),
      inTwoParts((request, context) => sendMessage(deps, request, context)),
    ),

    uploadFile: inTwoParts((request, context) => prepareUpload(deps, request, context)),
  };
}

function viewFaults(contextMetadata: string): Fault[] {
  if (contextMetadata === "") return [];
  try {
    JSON.parse(contextMetadata);
    return [];
  } catch {
    return [invalidArgument("contextMetadata", "must be JSON")];
  }
}
