import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AssistantContextType,
  type AssistantDisplayMessageSchema,
  type ChatUIActionSchema,
} from "../../../gen/signpost/v1/assistant_message_pb.js";
import { confirmationOf, labelOf, type Offer } from "../../assistant/offers.ts";
import type { Subject } from "../../assistant/sub-assistants.ts";
import type { MessageRow } from "./queries.ts";

/** A file of a message, as it is stored. */
export interface Attachment {
  readonly name: string;
  readonly mimeType: string;
}

/** A button below an answer, as it is stored. */
export interface Button {
  readonly label: string;
  readonly value: string;
}

export function toDisplayMessage(row: MessageRow): MessageInitShape<typeof AssistantDisplayMessageSchema> {
  // What is stored was written by `storeExchange`.
  const attachments: Attachment[] = JSON.parse(row.attachments);
  const buttons: Button[] = JSON.parse(row.ui_actions);
  return {
    id: row.id,
    sender: row.is_from_user ? "user" : "assistant",
    text: row.text,
    attachments,
    timestamp: timestampFromDate(row.created_at),
    ...(row.read_at !== null && { readAt: timestampFromDate(row.read_at) }),
    uiActions: buttons.map(toUiAction),
  };
}

export function toUiAction(button: Button): MessageInitShape<typeof ChatUIActionSchema> {
  return { type: "button", ...button };
}

/** The buttons that confirm offers. */
export function buttonsOf(offers: readonly (Offer & { readonly id: string })[]): Button[] {
  return offers.map((offer, index) => ({ label: labelOf(offer, index), value: confirmationOf(offer.id) }));
}

const subjects: Readonly<Record<AssistantContextType, Subject | undefined>> = {
  [AssistantContextType.UNSPECIFIED]: undefined,
  [AssistantContextType.ANALYTICS_DASHBOARD]: "ANALYTICS_DASHBOARD",
  [AssistantContextType.WORKFLOW]: "WORKFLOW",
  [AssistantContextType.LINK]: "LINK",
  [AssistantContextType.QRCODE_DESIGN]: "QRCODE_DESIGN",
  [AssistantContextType.PAGE_THEME]: "PAGE_THEME",
  [AssistantContextType.LINK_ANALYTICS]: "LINK_ANALYTICS",
  [AssistantContextType.LEAD_SCORE]: "LEAD_SCORE",
  [AssistantContextType.WORKSPACE]: "WORKSPACE",
};

export function fromContextType(type: AssistantContextType): Subject {
  const subject = subjects[type];
  if (subject === undefined) throw new Error("a conversation without a subject was let through");
  return subject;
}
