import type { Db } from "../db/open.ts";
import type { TokenAnswer } from "../oauth/issue-tokens.ts";

export interface AgentGrantKey {
  readonly workspaceId: string;
  readonly grantId: string;
}

/** What agents need of the authorization server. */
export interface AgentGrants {
  /** Begins the grant of an agent in the caller's transaction, without a member. Returns its id. */
  begin(
    tx: Db,
    agent: {
      readonly workspaceId: string;
      /** The registration's id. */
      readonly clientId: string;
      readonly clientName: string;
      readonly scope: string;
    },
    at: Date,
  ): Promise<string>;
  /** Signs the token that the agent has from the beginning, for the API. */
  firstToken(grant: AgentGrantKey, at: Date): Promise<string>;
  /** Gives the grant to the member who claims the workspace, with the wider scopes, in the caller's transaction. */
  claim(
    tx: Db,
    grant: AgentGrantKey,
    wider: { readonly memberId: string; readonly scope: string },
  ): Promise<void>;
  /** Whether tokens can be for a resource; undefined stands for the API. */
  isResource(resource: string | undefined): boolean;
  /** Makes the tokens of a claimed grant. Undefined when it has had them, or has ended. */
  issue(grant: AgentGrantKey, resource: string | undefined): Promise<TokenAnswer | undefined>;
  /** Ends a grant: its tokens end on every process within 5 s. */
  end(db: Db, grant: AgentGrantKey, at: Date): Promise<void>;
}
