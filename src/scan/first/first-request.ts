import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Origin } from "../../lib/client-address.ts";
import { hasScanMarker } from "../../model/links/redirect-target.ts";
import type { Plan } from "../../model/workflow/plan.ts";
import { decide } from "../../workflow/decide.ts";
import { journeyOf } from "../../workflow/journey.ts";
import { beforeLast, showsPreview } from "../../workflow/preview.ts";
import type { Visit } from "../../workflow/visit.ts";
import { collect } from "../device/collection.ts";
import type { ScanCounts } from "../metrics.ts";
import { answerEnd } from "../pages/answer-end.ts";
import { deviceCookie, type Envelope } from "../pages/respond.ts";
import type { Recorder } from "../spool/record.ts";
import { encodeVisit, type SeenVisit } from "../spool/record-format.ts";
import { lbidOf, type NewVisitId, textOfId } from "../spool/visit-id.ts";
import { type VisitSeals, visitQuery } from "../visit/seal.ts";
import { beginningOf } from "./beginning.ts";
import type { SeenVisits } from "./seen-visit.ts";

export interface FirstRequestDeps {
  readonly recorder: Pick<Recorder, "record">;
  readonly visits: SeenVisits;
  readonly newVisitId: NewVisitId;
  readonly seals: VisitSeals;
  /** The key of device cookies, in hexadecimal. */
  readonly deviceKey: string;
  readonly now: () => Date;
  readonly counts: ScanCounts;
}

/** A request for a link, by GET or HEAD. */
export interface LinkRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly isHead: boolean;
  readonly origin: Origin;
  /** As it was sent, without `?`. */
  readonly query: string;
}

/**
 * Begins a visit: walks as far as the workflow goes without the visitor's answer, records the visit, and only then
 * answers. HEAD takes the same walk and records nothing. Returns a promise only when something has to be looked up or
 * loaded before the walk; otherwise the visitor has been answered, or waits for the disk, when this returns.
 */
export function answerFirstRequest(
  deps: FirstRequestDeps,
  request: LinkRequest,
  plan: Plan,
  onTrouble: (error: unknown) => void,
): void | Promise<void> {
  const now = deps.now();
  const seen = see(plan, request, deps.newVisitId(now.getTime()));
  const visit = deps.visits.of(plan, seen, !request.isHead);
  if (visit instanceof Promise)
    return visit.then((known) => walkOn(deps, request, plan, seen, known, now, onTrouble));
  walkOn(deps, request, plan, seen, visit, now, onTrouble);
}

function see(plan: Plan, { req, isHead, origin, query }: LinkRequest, id: Buffer): SeenVisit {
  const { headers } = req;
  const { level, cookie: keepsCookie } = collect(plan.dataCollection, headers);
  const sent = keepsCookie ? deviceCookie(headers.cookie) : "";
  return {
    id,
    action: hasScanMarker(query) ? "SCAN" : "CLICK",
    level,
    headers,
    address: origin.address,
    cookie: sent === "" && keepsCookie && !isHead ? randomUUID() : sent,
    cookieWasSent: sent !== "",
    query,
  };
}

function walkOn(
  { recorder, counts, seals, deviceKey }: FirstRequestDeps,
  { res, isHead }: LinkRequest,
  plan: Plan,
  seen: SeenVisit,
  visit: Visit,
  now: Date,
  onTrouble: (error: unknown) => void,
): void {
  const decided = decide(plan, visit, now);
  const isPreview = showsPreview(decided, visit);
  const walk = isPreview ? beforeLast(decided) : decided;
  const envelope: Envelope = {
    isHead,
    isSandbox: plan.environment === "test",
    cookie: isHead ? "" : seen.cookie,
  };
  const query = () => {
    const lbid = lbidOf(seen.id);
    const key = { workspaceId: plan.workspaceId, linkId: plan.linkId, eventId: textOfId(seen.id) };
    const sealed = seals.seal(key, beginningOf(plan, seen, visit, walk, deviceKey));
    // What leaves no event has nothing to go on with.
    return visitQuery(lbid, isHead ? "0".repeat(sealed.length) : sealed);
  };
  const answer = () => answerEnd(res, plan, walk.end, { envelope, isPreview, query });
  if (isHead) {
    answer();
    return;
  }
  const journey = journeyOf(plan, walk);
  counts[countOf[journey.outcome]] += 1;
  recorder.record(seen.id, encodeVisit(plan, seen, walk, journey), () => {
    try {
      answer();
    } catch (error) {
      onTrouble(error);
    }
  });
}

const countOf = { COMPLETED: "completed", FALLBACK: "fallback", IN_PROGRESS: "waiting" } as const;
