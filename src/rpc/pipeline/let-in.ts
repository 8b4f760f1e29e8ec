import type { AnswerHeaders, Call } from "../call.ts";
import type { Caller } from "../handlers.ts";
import { bytesOfCall, callerBuckets, checkRate } from "./admit.ts";
import type { PipelineDeps } from "./call-state.ts";
import { limitHeaders } from "./rate-limit.ts";

/** A caller who was let in before it is known what it asks for. */
export interface LetIn {
  readonly caller: Caller;
  /** Takes a request of so many bytes that calls no operation out of the caller's rate. Throws when nothing is left of it. */
  charge(bytes: number): AnswerHeaders;
}

/** Lets in whom a token speaks for, or throws: token 401, then 429 for who has used up the rate in advance. */
export type LetCallerIn = (
  call: Pick<Call, "authorization" | "resource" | "clientAddress">,
) => Promise<LetIn>;

/** Makes what protocols use that must know the caller before they read a request. */
export function createLetIn({
  authenticate,
  rateLimiter,
  now,
}: Pick<PipelineDeps, "authenticate" | "rateLimiter" | "now">): LetCallerIn {
  return async ({ authorization, resource, clientAddress }) => {
    const identity = await authenticate.identityOf(authorization, now(), resource);
    if (identity === undefined) throw authenticate.tokenRequired(resource);
    const buckets = callerBuckets(identity, clientAddress);
    for (const bucket of buckets) checkRate(rateLimiter.takeMore(bucket, 0));
    return {
      caller: identity.caller,
      charge(bytes) {
        const states = buckets.map((bucket) => {
          const left = rateLimiter.take(bucket);
          checkRate(left);
          const more = Math.floor(bytes / bytesOfCall);
          if (more > 0) rateLimiter.takeMore(bucket, more);
          return left;
        });
        return limitHeaders(states[0]);
      },
    };
  };
}
