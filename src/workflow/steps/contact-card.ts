import type { ContactCardPayload } from "../../model/steps/contact-card.ts";
import type { TraceData } from "../walk-result.ts";
import { endsWithPage, type StepKindOf } from "./step.ts";

/** CONTACT_CARD: an exit with a card that the visitor can look at and save. Saving it changes nothing in the trace. */
export const contactCard: StepKindOf<"CONTACT_CARD"> = {
  explain: () => endsWithPage,

  enter: ({ payload }) => ({ kind: "exit-page", data: dataOf(payload) }),

  submit: ({ payload }) => ({
    kind: "submitted",
    branchId: "",
    data: dataOf(payload),
    answers: [],
    choice: undefined,
    captures: false,
    to: "",
    reason: "the card is saved",
  }),
};

function dataOf({ phoneIsWhatsapp: _, socialLinks: __, ...card }: ContactCardPayload): TraceData {
  return { contactCard: { card } };
}
