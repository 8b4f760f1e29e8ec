import { fail } from "../../lib/errors.ts";
import { othersTurn } from "../../lib/limits/loop-turns.ts";
import type { CallState, PipelineDeps } from "./call-state.ts";
import type { Identity } from "./credentials/authenticate.ts";
import { permit } from "./permit.ts";
import type { Bucket, BucketState } from "./rate-limit.ts";

/** Lets the caller in or throws: token, then rate, then scope. */
export async function admit(
  { authenticate, rateLimiter, apiCalls, now }: PipelineDeps,
  state: CallState,
): Promise<void> {
  const { plan, call } = state;
  const at = now();
  try {
    state.identity = await authenticate.identityOf(call.authorization, at, call.resource);
    if (state.identity === undefined && plan.access.scope !== undefined)
      throw authenticate.tokenRequired(call.resource);
  } catch (error) {
    // A refused caller gets the rate-limit headers of callers without a token.
    state.rateLeft = rateLimiter.take({ kind: "anonymous", address: call.clientAddress });
    throw error;
  }
  for (const bucket of bucketsOf(state)) noteRate(state, bucket, rateLimiter.take(bucket));
  if (isCounted(state)) {
    const begun = apiCalls.begin(state.identity.caller.workspaceId, at);
    const counted = begun instanceof Promise ? await begun : begun;
    // Nobody else ends a call that begins only after its answer.
    if (state.isOver) counted?.end("DEADLINE_EXCEEDED");
    else state.counted = counted;
  }
  permit(plan.access, state, authenticate);
}

/**
 * Whether the call uses up calls of the workspace's plan. Open calls ignore tokens, members' sessions are free, and
 * anybody can call with a publishable token.
 */
function isCounted(state: CallState): state is CallState & { readonly identity: Identity } {
  const { plan, identity } = state;
  if (identity === undefined || plan.access.scope === undefined) return false;
  return identity.credential.kind === "SECRET" || identity.credential.kind === "GRANT";
}

function noteRate(state: CallState, { kind }: Bucket, left: BucketState | undefined): void {
  // The headers tell of the limit that all calls of a token share.
  if (kind !== "operation" && kind !== "workspace") state.rateLeft = left;
  checkRate(left);
}

/** Throws when a bucket does not allow a call. */
export function checkRate(left: BucketState | undefined): void {
  if (left?.isAllowed === false) {
    throw fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", "too many requests; slow down", {
      retryAfterSeconds: left.retryAfterSeconds,
    });
  }
}

/** The number of bytes of a message that costs as much as one call, in addition to the message's own call. */
export const bytesOfCall = 64 * 1024;

/** Charges a large message to its caller's rate, and waits until no other long work keeps the event loop. */
export async function weigh({ rateLimiter }: PipelineDeps, state: CallState, bytes: number): Promise<void> {
  const calls = Math.floor(bytes / bytesOfCall);
  if (calls === 0) return;
  for (const bucket of bucketsOf(state)) {
    if (bucket.kind !== "operation") noteRate(state, bucket, rateLimiter.takeMore(bucket, calls));
  }
  state.isLarge = true;
  await othersTurn();
}

function bucketsOf({ plan, call, identity }: CallState): Bucket[] {
  const buckets = callerBuckets(identity, call.clientAddress);
  const { callsPerMinute, name: operation } = plan;
  if (callsPerMinute > 0)
    buckets.push({ kind: "operation", operation, callsPerMinute, address: call.clientAddress });
  return buckets;
}

/** The buckets that all calls of a caller use, that of the token first. */
export function callerBuckets(identity: Identity | undefined, address: string): Bucket[] {
  const buckets = [bucketOf(identity, address)];
  // Anybody can call with a publishable token, so its calls do not use up the rate of the workspace's own
  // programs.
  if (identity !== undefined && identity.credential.kind !== "PUBLISHABLE")
    buckets.push({ kind: "workspace", workspaceId: identity.caller.workspaceId });
  return buckets;
}

function bucketOf(identity: Identity | undefined, address: string): Bucket {
  if (identity === undefined) return { kind: "anonymous", address };
  const { caller, credential } = identity;
  const { workspaceId } = caller;
  return credential.kind === "PUBLISHABLE"
    ? { kind: "publishable", workspaceId, address }
    : { kind: "token", workspaceId, tokenId: credential.id };
}
