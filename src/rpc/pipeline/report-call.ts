import { describeFailure } from "../../db/describe-failure.ts";
import type { AnswerHeaders, Outcome } from "../call.ts";
import type { CallState, PipelineDeps } from "./call-state.ts";
import { limitHeaders } from "./rate-limit.ts";

/** The headers of an answer that is about the call, whatever it says. */
export function headersOf(
  { plan, call, identity, rateLeft, isReplay }: CallState,
  ok: boolean,
): AnswerHeaders {
  const headers: Record<string, string> = { "x-request-id": call.requestId, ...plan.retirement };
  if (identity?.caller.sandbox === true) Object.assign(headers, sandboxHeaders);
  Object.assign(headers, limitHeaders(rateLeft));
  if (isReplay) headers["idempotent-replayed"] = "true";
  if (ok && plan.cacheControl !== undefined) headers["cache-control"] = plan.cacheControl;
  return headers;
}

/** Tell that an answer is of a sandbox; the answers of its links have them, too. */
const sandboxHeaders = { "x-service-sandbox": "true", "x-robots-tag": "noindex" };

/** Ends a call: counts it and writes its log line. */
export function report(
  { metrics, log }: PipelineDeps,
  state: CallState,
  outcome: Outcome,
  seconds: number,
): void {
  const { plan, call, identity } = state;
  const code = outcome.ok ? "OK" : outcome.error.code;
  state.isOver = true;
  state.counted?.end(code);
  metrics.count(plan.name, call.protocol, code, seconds);
  // The line never holds bodies, tokens, keys or addresses of requests.
  const line = {
    method: plan.name,
    protocol: call.protocol,
    code,
    reason: outcome.ok ? undefined : outcome.error.reason,
    ms: Math.round(seconds * 1e6) / 1e3,
    requestId: call.requestId,
    workspaceId: identity?.caller.workspaceId,
    tokenId: identity?.caller.tokenId,
    memberId: identity?.caller.memberId,
    grantId: identity?.caller.grantId,
  };
  const cause = outcome.ok ? undefined : outcome.error.refusal.cause;
  // Errors of parsers are the caller's fault, and they quote the body.
  if (cause === undefined || code === "INVALID_ARGUMENT") log.info(line, "call");
  else log.error({ ...line, failure: describeFailure(cause) }, "call");
}
