import assert from "node:assert/strict";
import type { Client } from "signpost-client";
import { AssistantContextType } from "signpost-client/v1/assistant_message";
import { refusalOf } from "./journey-support.ts";

/** Finds an empty conversation about the link, and that nobody answers. */
export async function askAssistant({ assistant }: Client, contextId: string): Promise<void> {
  const subject = { contextType: AssistantContextType.LINK, contextId };
  const content = new TextEncoder().encode("name\nAda\n");
  const file = await assistant.uploadFile({ content, mimeType: "text/csv", name: "guests.csv" });
  assert.equal(file.mimeType, "text/csv");
  const refused = await refusalOf(assistant.sendMessage({ ...subject, message: "What is this link for?" }));
  assert.equal(refused.reason, "ASSISTANT_UNAVAILABLE");
  assert.deepEqual((await assistant.getConversation(subject)).messages, []);
  assert.equal((await assistant.markConversationRead(subject)).markedCount, 0);
  await assistant.clearConversation(subject);
}
