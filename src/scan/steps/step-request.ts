import type { IncomingMessage, ServerResponse } from "node:http";
import type { Origin } from "../../lib/client-address.ts";
import { lbidParameter } from "../../model/links/redirect-target.ts";
import { eventOfLbid, lbidOfEvent } from "../../model/visitors/lbid.ts";
import type { Plan } from "../../model/workflow/plan.ts";
import { timerParameter } from "../../workflow/answer-fields.ts";
import { collect } from "../device/collection.ts";
import { cookieHashOf } from "../device/device-keys.ts";
import { deviceCookie } from "../pages/respond.ts";
import { sealParameter } from "../visit/seal.ts";
import type { VisitKey } from "../visit/state.ts";

/** A request for a step of an existing link. */
export interface StepVisit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly origin: Origin;
  readonly plan: Plan;
  readonly stepId: string;
  /** The request asks for the file of a contact card in place of its page. */
  readonly isCard: boolean;
  readonly query: string;
}

/** What every request for a step says. */
export interface StepAsked {
  readonly key: VisitKey;
  readonly lbid: string;
  /** The seal that the request carries; empty for none. */
  readonly sealed: string;
  readonly isTimer: boolean;
  /** The device cookie that was sent; empty for none. */
  readonly cookie: string;
  /** The hash of the device cookie that was sent, in hexadecimal; empty for none. */
  readonly cookieHash: string;
  readonly keepsCookie: boolean;
  readonly now: Date;
}

/** Reads a request. Undefined when the request names no visit. */
export function readRequest(
  { deviceKey, now }: { readonly deviceKey: string; readonly now: () => Date },
  { req, plan, query }: Pick<StepVisit, "req" | "plan" | "query">,
): StepAsked | undefined {
  const parameters = new URLSearchParams(query);
  const eventId = eventOfLbid(parameters.get(lbidParameter) ?? "");
  if (eventId === undefined) return undefined;
  const { workspaceId, linkId, dataCollection } = plan;
  const cookie = deviceCookie(req.headers.cookie);
  return {
    key: { workspaceId, linkId, eventId },
    lbid: lbidOfEvent(eventId),
    sealed: parameters.get(sealParameter) ?? "",
    isTimer: parameters.has(timerParameter),
    cookie,
    cookieHash: cookie === "" ? "" : cookieHashOf(workspaceId, cookie, deviceKey),
    keepsCookie: collect(dataCollection, req.headers).cookie,
    now: now(),
  };
}
