import type { InviteMemberRequest } from "../../../gen/signpost/v1/members_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import { makeChallenge } from "../../people/challenges.ts";
import { mailOrder } from "../../people/mail-order.ts";
import type { Caller } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import type { MemberRow } from "./queries.ts";
import { checkMailRoom, emailTaken } from "./rules.ts";
import { insertMember, lockMembers, queueMails, takeEmail } from "./writes.ts";

/** Makes a pending member, a viewer, and mails the link with which the invitation is accepted. */
export function inviteMember(
  db: Db,
  request: InviteMemberRequest,
  { caller, now, jobCall }: Pick<Deps, "now" | "jobCall"> & { readonly caller: Caller },
): Promise<MemberRow> {
  const { workspaceId } = caller;
  const email = request.email.toLowerCase();
  return inTransaction(db, async (tx) => {
    await lockMembers(tx, workspaceId);
    const at = now();
    await checkRoom(tx, workspaceId, at);
    const id = newId(at);
    if (!(await takeEmail(tx, email, { workspace_id: workspaceId, id }))) throw emailTaken(email);
    const member = await insertMember(tx, {
      workspace_id: workspaceId,
      id,
      email,
      first_name: request.firstName,
      last_name: request.lastName,
      role: "VIEWER",
      created_at: at,
      updated_at: at,
    });
    const challenged = { workspaceId, memberId: id, email };
    const challengeId = await makeChallenge(tx, challenged, { kind: "INVITATION", at });
    await queueMails(tx, jobCall, [mailOrder("invitation", { challengeId }, { ...challenged, at })]);
    return member;
  });
}

/** Throws when the workspace may not have another member. No other call of the workspace adds one meanwhile. */
async function checkRoom(tx: Db, workspaceId: string, at: Date): Promise<void> {
  await checkMailRoom(tx, workspaceId, at);
}
