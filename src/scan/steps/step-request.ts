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

/** A request for a step of a link that is there. */
export interface StepVisit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly origin: Origin;
  readonly plan: Plan;
  readonly stepId: string;
  /** The card of a contact card as a file, in place of its page. */
  readonly isCard: boolean;
  readonly query: string;
}

/** What every request for a step says. */
export interface StepAsked {
  readonly key: VisitKey;
  readonly lbid: string;
  /** What the request carries of where the visit stands; empty for nothing. */
  readonly sealed: string;
  readonly isTimer: boolean;
  /** The device cookie that was sent; empty for none. */
  readonly cookie: string;
  /** That of the cookie, in hexadecimal; empty for none. */
  readonly cookieHash: string;
  readonly keepsCookie: boolean;
  readonly now: Date;
}

/** Reads a request; undefined for one that names no visit. */
export function readRequest(
  { deviceKey, now }: { readonly deviceKey: string; readonly now: () => Date },
  { req, plan, query }: StepVisit,
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
