import type { Entitlement } from "../../model/plans/entitlement.ts";
import { limitReached } from "../../model/plans/limit-reached.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { type Charge, chargeOf, isCovered } from "../resources/credit-queries.ts";
import type { AssistantDeps } from "./deps.ts";
import { takeFromMinute } from "./writes.ts";

/** What an answered message costs. */
const creditsOfMessage = 1;
const minuteMs = 60_000;

/** What is charged for an answer. */
export interface Paid {
  readonly entitlement: Entitlement;
  /** Undefined where credits have no end. */
  readonly charge: Charge | undefined;
  readonly at: Date;
}

/**
 * Lets a message in: throws when no credit is left, or when the workspace has sent as many messages in this minute as its plan
 * allows. Nothing is charged before there is an answer.
 */
export async function takePlace(
  { entitlements }: Pick<AssistantDeps, "entitlements">,
  context: Context,
  at: Date,
): Promise<Paid> {
  const { workspaceId } = callerOf(context);
  const entitlement = await entitlements.of(workspaceId, context.db);
  const paid = { entitlement, charge: chargeOf(entitlement, creditsOfMessage, at), at };
  if (!(await isCovered(context.db, workspaceId, { ...paid, isLocked: false })))
    throw limitReached("PLATFORM_CREDITS", entitlement, at);
  const allowed = entitlement.limits.ASSISTANT_MESSAGES_PER_MINUTE;
  if (typeof allowed !== "number") return paid;
  const minute = new Date(Math.floor(at.getTime() / minuteMs) * minuteMs);
  if (!(await takeFromMinute(context.db, workspaceId, { minute, allowed })))
    throw limitReached("ASSISTANT_MESSAGES_PER_MINUTE", entitlement, at);
  return paid;
}
