import { invalid } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { createClaimReader, createClaimSigner } from "../lib/signed-claims.ts";
import type { IntegrationKind } from "./kinds.ts";

/** Who asks for an authorization: a member, by a session or a grant, a token of the workspace, or a grant of no member. */
export interface StateOwner {
  readonly workspaceId: string;
  readonly memberId: string | undefined;
  readonly tokenId: string | undefined;
  readonly grantId?: string;
}

/** The `state` of authorizations: it proves that whoever brings a code asked for the address that the code came from. */
export interface OauthStates {
  /** Makes a state for one owner. It is valid for ten minutes. */
  make(kind: IntegrationKind, owner: StateOwner): Promise<string>;
  /** Throws INVALID_STATE unless `make` gave this state to this owner within the last ten minutes. */
  check(state: string, kind: IntegrationKind, owner: StateOwner): Promise<void>;
}

/** How long a state is valid, in milliseconds (behaviour 8.10). */
export const stateLifeMs = 10 * 60 * 1000;

/** `key` is derived for the purpose `oauth-states`. Nothing is stored. */
export function createOauthStates(key: Uint8Array, now: () => Date): OauthStates {
  const { sign } = createClaimSigner(key, "oauth-state+jwt");
  const readClaims = createClaimReader(key);
  return {
    make(kind, owner) {
      const at = now();
      // The milliseconds are kept, because JWT counts in whole seconds.
      const claims = { kind, workspace_id: owner.workspaceId, made_at: at.getTime() };
      return sign(claims, (jwt) => jwt.setJti(newId(at)).setSubject(subjectOf(owner)).setIssuedAt(at));
    },
    async check(state, kind, owner) {
      const claims = await readClaims(state);
      if (claims === undefined) throw invalidState("was not made by this service, or is damaged");
      const isOwn =
        claims.kind === kind && claims.workspace_id === owner.workspaceId && claims.sub === subjectOf(owner);
      if (!isOwn) throw invalidState("was given to another caller");
      const age = typeof claims.made_at === "number" ? now().getTime() - claims.made_at : Infinity;
      if (age < 0 || age >= stateLifeMs) throw invalidState("is older than 10 minutes");
    },
  };
}

function subjectOf({ memberId, tokenId, grantId }: StateOwner): string {
  if (memberId !== undefined) return `member ${memberId}`;
  return grantId === undefined ? `token ${tokenId}` : `grant ${grantId}`;
}

function invalidState(fault: string) {
  const description = `${fault}; ask for a new authorization address and begin again`;
  return invalid([{ field: "state", description }], "INVALID_STATE");
}
