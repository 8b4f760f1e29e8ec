import { type Db, inTransaction } from "../../db/open.ts";
import { checkReady, noSuchWorkspace } from "./rules.ts";
import { lockWorkspace, writeEnrollment } from "./writes.ts";

export interface Wish {
  /** What the workspace tells the operator. */
  readonly message: string;
  readonly at: Date;
  /** Whether the workspace becomes public without an operator. */
  readonly isApproved: boolean;
}

/** Notes that a workspace wants to be public. Repeating it changes nothing. */
export async function requestEnrollment(
  db: Db,
  workspaceId: string,
  { message, at, isApproved }: Wish,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const workspace = await lockWorkspace(tx, workspaceId);
    if (workspace === undefined) throw noSuchWorkspace(workspaceId);
    if (workspace.enroll_requested_at !== null) return;
    checkReady(workspace);
    const published_at = isApproved ? at : workspace.published_at;
    const enrollment = { enroll_requested_at: at, enroll_message: message, published_at };
    await writeEnrollment(tx, workspaceId, enrollment, at);
  });
}

/** The operator makes a workspace public, whether or not it has asked. False when there is no such live workspace. */
export function publishWorkspace(db: Db, workspaceId: string, at: Date): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const workspace = await lockWorkspace(tx, workspaceId);
    if (workspace === undefined || workspace.environment === "test") return false;
    if (workspace.published_at !== null) return true;
    checkReady(workspace);
    const { enroll_requested_at, enroll_message } = workspace;
    await writeEnrollment(tx, workspaceId, { enroll_requested_at, enroll_message, published_at: at }, at);
    return true;
  });
}

/** The operator makes a workspace private. It can ask anew. False when there is no such workspace. */
export function unpublishWorkspace(db: Db, workspaceId: string, at: Date): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const workspace = await lockWorkspace(tx, workspaceId);
    if (workspace === undefined) return false;
    const isPrivate = workspace.published_at === null && workspace.enroll_requested_at === null;
    const none = { enroll_requested_at: null, enroll_message: "", published_at: null };
    if (!isPrivate) await writeEnrollment(tx, workspaceId, none, at);
    return true;
  });
}
