import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CompleteAgentClaimRequest,
  CompleteAgentClaimResponseSchema,
} from "../../../gen/signpost/v1/agent_identity_service_pb.js";
import type { MemberSchema } from "../../../gen/signpost/v1/member_pb.js";
import type { ClaimTokens } from "../../agents/claim-tokens.ts";
import { type ClaimantDeps, proveClaimant, provesAgain } from "../../agents/claimant.ts";
import { checkClaim, completeClaim } from "../../agents/complete-claim.ts";
import type { AgentGrants } from "../../agents/grants.ts";
import type { Db } from "../../db/open.ts";
import { type CallError, fail } from "../../lib/errors.ts";
import { memberById, noteSignIn, type SigningMember } from "../../people/members.ts";
import type { SignSession } from "../../people/sessions.ts";
import { lastKnownOf } from "../../people/sign-in-origin.ts";
import type { Context, Write } from "../../rpc/handlers.ts";
import { proofOf } from "./rules.ts";

export interface AgentIdentityDeps extends ClaimantDeps {
  readonly now: () => Date;
  readonly claimTokens: ClaimTokens;
  readonly claimGrant: AgentGrants["claim"];
  readonly signSession: SignSession;
  /** A member as the API shows it; undefined when there is none. */
  readonly memberOf: (
    db: Db,
    member: Pick<SigningMember, "workspaceId" | "memberId">,
  ) => Promise<MessageInitShape<typeof MemberSchema> | undefined>;
}

type Answer = MessageInitShape<typeof CompleteAgentClaimResponseSchema>;

/** Checks the code and the person, and leaves the claim to be written. Only the caller who claims gets the session. */
export async function claimWorkspace(
  deps: AgentIdentityDeps,
  request: CompleteAgentClaimRequest,
  context: Context,
): Promise<Write<Answer>> {
  const { now, claimTokens, claimGrant } = deps;
  const { claimAttemptToken: token, userCode } = request;
  const { address } = context;
  const link = await checkClaim({ db: context.db, now, tokens: claimTokens }, { token, userCode, address });
  const claimant = await proveClaimant(deps, link, proofOf(request), { address, languages: undefined });
  return async (db) => {
    const member = await completeClaim(db, link, { claimant, claimGrant, at: now() });
    if (member === undefined) return undefined;
    context.afterCommit((own) => answerOf(deps, own, member, true));
    return answerOf(deps, db, member, false);
  };
}

/** The member alone is stored for replays. A session is signed anew for whoever sends the same proof again. */
async function answerOf(
  { signSession, now, memberOf }: AgentIdentityDeps,
  db: Db,
  member: SigningMember,
  isSignedIn: boolean,
): Promise<Answer> {
  const shown = await memberOf(db, member);
  if (shown === undefined) throw mustSignIn();
  if (!isSignedIn) return { member: shown };
  const { accessToken } = await signSession(member, now());
  return { member: { ...shown, accessToken } };
}

/** Answers a retry of a completed claim with a fresh session of the same member, if the proof still is the member's. */
export async function renewSession(
  deps: AgentIdentityDeps,
  request: CompleteAgentClaimRequest,
  { member: stored }: Answer,
  { db, address }: Context,
): Promise<Answer> {
  const key = { workspaceId: stored?.workspaceId ?? "", memberId: stored?.id ?? "" };
  const member = await memberById(db, key);
  if (member === undefined || !(await provesAgain(deps, member, proofOf(request), address)))
    throw mustSignIn();
  await noteSignIn(
    db,
    member,
    await lastKnownOf({ address, languages: undefined }, deps.findPlace),
    deps.now(),
  );
  return answerOf(deps, db, member, true);
}

function mustSignIn(): CallError {
  return fail(
    "UNAUTHENTICATED",
    "UNAUTHENTICATED",
    "the workspace was claimed; sign in as its administrator",
  );
}
