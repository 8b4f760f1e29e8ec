import type { Logger } from "pino";
import type { Turns } from "../../db/turns.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { MethodPlan } from "../access.ts";
import type { Call } from "../call.ts";
import type { RegisteredService } from "../handlers.ts";
import type { ApiCalls, CountedCall } from "./api-calls.ts";
import type { Authenticate, Identity } from "./credentials/authenticate.ts";
import type { CallMetrics } from "./metrics.ts";
import type { BucketState, RateLimiter } from "./rate-limit.ts";

export interface PipelineDeps {
  readonly services: readonly RegisteredService[];
  readonly turns: Turns;
  readonly now: () => Date;
  readonly authenticate: Authenticate;
  readonly rateLimiter: RateLimiter;
  readonly apiCalls: ApiCalls;
  readonly idempotency: { readonly fingerprintKey: Uint8Array; readonly outcomeKey: Uint8Array };
  readonly metrics: CallMetrics;
  readonly log: Pick<Logger, "info" | "error">;
  /** How long a call may run before it is answered with DEADLINE_EXCEEDED, in milliseconds. */
  readonly requestTimeoutMs: number;
}

/** What the pipeline has learned of a call so far, for the answer's headers and the log line. */
export interface CallState {
  readonly plan: MethodPlan;
  readonly call: Call;
  identity: Identity | undefined;
  rateLeft: BucketState | undefined;
  /** Set for calls that the plan limits, once the caller is known. */
  counted: CountedCall | undefined;
  isReplay: boolean;
  isLarge: boolean;
  /** Whether the call is answered. It may be before its work ends. */
  isOver: boolean;
}

/** The owner of the pool share that a call uses: its workspace, or all callers without a token together. */
export function ownerOf({ identity }: CallState): string {
  return identity?.caller.workspaceId ?? noWorkspace;
}
