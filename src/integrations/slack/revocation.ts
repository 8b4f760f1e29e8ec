import { noWorkspace } from "../../model/no-workspace.ts";
import type { TokenBox, TokenPlace } from "../token-box.ts";

// A token that waits for its revocation names no workspace, because it may outlive the workspace's purge.
const place: TokenPlace = { kind: "slack", workspaceId: noWorkspace, integrationId: noWorkspace };

export interface SealedToken {
  readonly workspace_id: string;
  readonly id: string;
  readonly bot_token: Uint8Array;
}

/**
 * What the job that revokes the token of an integration is told. Undefined when the master secret has changed, so that
 * nobody can open the token any more.
 */
export function sealForRevocation(
  tokenBox: TokenBox,
  { workspace_id: workspaceId, id: integrationId, bot_token }: SealedToken,
): string | undefined {
  try {
    const token = tokenBox.open(bot_token, { kind: "slack", workspaceId, integrationId });
    return tokenBox.seal(token, place).toString("base64");
  } catch {
    return undefined;
  }
}

export function openForRevocation(tokenBox: TokenBox, sealed: string): string {
  return tokenBox.open(Buffer.from(sealed, "base64"), place);
}
