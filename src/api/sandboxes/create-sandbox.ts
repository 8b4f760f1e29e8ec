import { type Db, inTransaction } from "../../db/open.ts";
import { fail } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { everyScope, scopeText } from "../../model/scope.ts";
import type { SignToken } from "../../model/token.ts";
import type { Caller } from "../../rpc/handlers.ts";
import { signNewToken } from "../resources/new-token.ts";
import type { WorkspaceTokenRow } from "../resources/workspace-token.ts";
import { countMade, countSandboxes, insertSandbox, type SandboxRow } from "./queries.ts";

const dayMs = 24 * 3_600_000;
const lifeMs = 30 * dayMs;
const sandboxesMax = 3;

/** Every process remembers the sandboxes that were deleted, so their number must be bounded. */
const madeInDayMax = 1_000;

export interface NewSandbox {
  readonly sandbox: SandboxRow;
  readonly token: WorkspaceTokenRow;
  /** Shown once. */
  readonly accessToken: string;
}

/** Makes a sandbox with its link setting and a token that has the scopes of the caller, all or nothing. */
export async function createSandbox(
  db: Db,
  name: string,
  { caller, signToken, at }: { readonly caller: Caller; readonly signToken: SignToken; readonly at: Date },
): Promise<NewSandbox> {
  const [id, linkSettingId, expiresAt] = [newId(at), newId(at), new Date(at.getTime() + lifeMs)];
  const order = {
    ...({ workspaceId: id, name: "", keyType: "SECRET", environment: "test", expiresAt } as const),
    scope: caller.fullAccess ? everyScope : scopeText(caller.scopes),
    // The parent's member is nobody in the sandbox.
    createdBy: undefined,
  };
  // Signed before the transaction, so that nothing waits in it.
  const { accessToken, row: token } = await signNewToken(signToken, order, at);
  const times = { created_at: at, updated_at: at };
  return inTransaction(db, async (tx) => {
    const parent = await countMade(tx, caller.workspaceId, at);
    if (parent === undefined) throw fail("UNAUTHENTICATED", "UNAUTHENTICATED", "the workspace was deleted");
    // The workspace is locked, so the numbers are exact. A refusal undoes the count.
    checkRoom(await countSandboxes(tx, caller.workspaceId, at), parent.sandboxes_made);
    const workspace = {
      id,
      parent_workspace_id: caller.workspaceId,
      environment: "test" as const,
      name: name === "" ? `Sandbox ${at.toISOString().slice(0, 16).replace("T", " ")}` : name,
      subscription_type: parent.subscription_type,
      link_setting_id: linkSettingId,
      expires_at: expiresAt,
      ...times,
    };
    const linkSetting = { workspace_id: id, id: linkSettingId, data_collection: "BASIC" as const, ...times };
    return {
      sandbox: workspace,
      token: await insertSandbox(tx, { workspace, linkSetting, token }),
      accessToken,
    };
  });
}

/** Throws when the workspace has as many sandboxes as it may have, or has made as many today as it may. */
function checkRoom(living: number, madeToday: number): void {
  if (living >= sandboxesMax)
    throw fail(
      "RESOURCE_EXHAUSTED",
      "SANDBOX_LIMIT_REACHED",
      `a workspace has at most ${sandboxesMax} sandboxes: delete one first`,
    );
  if (madeToday > madeInDayMax)
    throw fail(
      "RESOURCE_EXHAUSTED",
      "LIMIT_REACHED",
      `a workspace makes at most ${madeInDayMax} sandboxes a day: use one for longer`,
      { retryAfterSeconds: 3_600 },
    );
}
