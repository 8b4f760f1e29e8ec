import type { Db } from "../db/open.ts";

/** The grant of an agent before anybody claims its workspace. It has no member. */
export interface NewAgentGrant {
  readonly workspaceId: string;
  /** The registration's id, which is the agent's client id too. */
  readonly clientId: string;
  readonly clientName: string;
  readonly scope: string;
  /** When the grant ends, unless somebody claims the workspace. */
  readonly expiresAt: Date;
  readonly at: Date;
}

export interface ClaimedGrant {
  readonly workspaceId: string;
  readonly grantId: string;
  readonly clientId: string;
  readonly memberId: string;
  /** The wider scopes. */
  readonly scope: string;
  readonly at: Date;
}

/** The tokens of the claim grant, as the token endpoint answers them. */
export interface AgentTokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly scope: string;
}

/** What agents need of the authorization server. */
export interface AgentGrants {
  /** Begins a grant in the caller's transaction. Returns its id, and the token with the narrow scopes for the API. */
  begin(tx: Db, grant: NewAgentGrant): Promise<{ readonly grantId: string; readonly accessToken: string }>;
  /** Gives the grant to the member who claimed the workspace, with the wider scopes, in the caller's transaction. */
  claim(tx: Db, grant: ClaimedGrant): Promise<void>;
  /** Makes tokens of a claimed grant, for a resource. Throws INVALID_ARGUMENT for an unknown resource. */
  issue(grant: ClaimedGrant, resource: string | undefined): Promise<AgentTokens>;
}
