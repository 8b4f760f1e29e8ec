import type { Answer } from "../../assistant/converse.ts";
import type { Offer } from "../../assistant/offers.ts";
import { type Db, inTransaction, violates } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import { limitReached } from "../../model/plans/limit-reached.ts";
import { coveredCheck, isCovered } from "../resources/credit-queries.ts";
import type { AssistantDeps } from "./deps.ts";
import type { Attachment, Button } from "./message.ts";
import type { Paid } from "./payment.ts";
import type { Place, Sender, UploadRow } from "./queries.ts";
import { deleteUploads, storeExchange, storeOffers } from "./writes.ts";

interface Answered {
  readonly place: Place;
  readonly sender: Sender;
  readonly message: string;
  /** When the message came. */
  readonly at: Date;
  readonly files: readonly UploadRow[];
  readonly answer: Answer;
  readonly text: string;
  readonly offers: readonly (Offer & { readonly id: string })[];
  readonly buttons: readonly Button[];
  /** Undefined for what costs nothing. */
  readonly paid: Paid | undefined;
}

/** Stores a message with its answer, its offers and its price in one transaction. The files of the message go. */
export async function storeAnswer(
  db: Db,
  { now }: Pick<AssistantDeps, "now">,
  answered: Answered,
): Promise<void> {
  const { place, sender, at, files, answer, paid } = answered;
  await inTransaction(db, async (tx) => {
    const isPaid =
      paid !== undefined && (await isCovered(tx, place.workspaceId, { ...paid, isLocked: true }));
    // Somebody else has spent the last credit meanwhile. Whoever had something changed learns of it all the same.
    if (paid !== undefined && !isPaid && answer.changes.length === 0)
      throw limitReached("PLATFORM_CREDITS", paid.entitlement, paid.at);
    const attachments: Attachment[] = files.map(({ name, mime_type }) => ({ name, mimeType: mime_type }));
    const question = {
      id: newId(at),
      text: answered.message,
      attachments: JSON.stringify(attachments),
      ui_actions: "[]",
      // Whatever came with the message is not read again.
      is_tainted: false,
      caller_id: sender.callerId,
      created_at: at,
    };
    const answeredAt = now();
    const reply = {
      id: newId(answeredAt),
      text: answered.text,
      attachments: "[]",
      ui_actions: JSON.stringify(answered.buttons),
      is_tainted: answer.isTainted,
      caller_id: sender.callerId,
      created_at: answeredAt,
    };
    try {
      await storeExchange(tx, place, { question, answer: reply }, isPaid ? paid.charge : undefined);
    } catch (error) {
      if (paid === undefined || !violates(error, coveredCheck)) throw error;
      throw limitReached("PLATFORM_CREDITS", paid.entitlement, paid.at);
    }
    await storeOffers(tx, place, { callerId: sender.callerId, at: answeredAt, offers: answered.offers });
    await deleteUploads(
      tx,
      sender,
      files.map(({ id }) => id),
    );
  });
}
