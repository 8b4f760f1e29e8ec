import { type CallError, fail, type Reason } from "../../lib/errors.ts";
import { cycleOf, secondsToReset } from "./cycle.ts";
import { allowedOf, type Entitlement, limitKinds } from "./entitlement.ts";
import type { LimitKey } from "./plan-table.ts";

const names: Readonly<Record<LimitKey, string>> = {
  CUSTOM_DOMAINS: "custom domains",
  TEAM_MEMBERS: "members",
  PLATFORM_CREDITS: "credits",
  TRACKED_VISITS: "visits",
  PUBLIC_API_CALLS: "API calls",
  WEBHOOKS: "webhooks",
  ASSISTANT_MESSAGES_PER_MINUTE: "messages to the assistant",
  LINKS_INCLUDED: "links",
};

/** The refusal of a call that needs more of a limit than is left. Limits of a month or a minute tell when to try again. */
export function limitReached(key: LimitKey, entitlement: Entitlement, at: Date): CallError {
  const allowed = allowedOf(entitlement, key);
  const metadata = { key: `PLAN_LIMIT_KEY_${key}` };
  const reason = reasonOf(key, entitlement);
  if (limitKinds[key] === "PER_MINUTE") {
    const message = `the plan allows ${allowed} ${names[key]} a minute; wait for the next minute`;
    return fail("RESOURCE_EXHAUSTED", reason, message, { metadata, retryAfterSeconds: secondsToMinute(at) });
  }
  if (limitKinds[key] !== "MONTHLY") {
    const message = `the plan allows ${allowed} ${names[key]}; remove some, or choose another plan`;
    return fail("RESOURCE_EXHAUSTED", reason, message, { metadata });
  }
  const cycle = cycleOf(at, entitlement.timezone);
  const whose = entitlement.isSandbox ? "the sandbox" : "the plan";
  const message = `too few of the ${allowed} ${names[key]} of ${whose} are left this month; the next one begins at ${cycle.end.toISOString()}`;
  return fail("RESOURCE_EXHAUSTED", reason, message, {
    metadata,
    retryAfterSeconds: secondsToReset(cycle, at),
  });
}

/** Whole seconds until the next minute, at least 1. */
function secondsToMinute(at: Date): number {
  return 60 - (Math.floor(at.getTime() / 1000) % 60);
}

function reasonOf(key: LimitKey, { isSandbox }: Entitlement): Reason {
  if (isSandbox && limitKinds[key] === "MONTHLY") return "SANDBOX_CAP_REACHED";
  if (key === "PLATFORM_CREDITS") return "INSUFFICIENT_CREDITS";
  return key === "PUBLIC_API_CALLS" ? "MAX_PUBLIC_API_QUERIED_REACHED" : "PLAN_LIMIT_REACHED";
}
