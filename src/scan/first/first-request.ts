import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Origin } from "../../lib/client-address.ts";
import { hasScanMarker } from "../../model/links/redirect-target.ts";
import type { Plan } from "../../model/workflow/plan.ts";
import { reportedLinkParameter, reportPath } from "../../pages/device-report.ts";
import { decide } from "../../workflow/decide.ts";
import { journeyOf } from "../../workflow/journey.ts";
import { beforeLast, showsPreview } from "../../workflow/preview.ts";
import type { Visit } from "../../workflow/visit.ts";
import { type AskedHow, askedHow } from "../device/asked-how.ts";
import { collect } from "../device/collection.ts";
import { isAutomatic } from "../device/device-keys.ts";
import type { ScanCounts } from "../metrics.ts";
import { answerEnd } from "../pages/answer-end.ts";
import { deviceCookie, type Envelope, refuseForNow } from "../pages/respond.ts";
import type { Recorder } from "../spool/record.ts";
import { encodeVisit, type SeenVisit } from "../spool/record-format.ts";
import { lbidOf, type NewVisitId, textOfId } from "../spool/visit-id.ts";
import { type VisitSeals, visitQuery } from "../visit/seal.ts";
import { ruledVisit, ruleTime } from "../visit/test-clock.ts";
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

interface Answering extends LinkRequest {
  /** The browser asks in advance. It gets a refusal, so that it asks again when somebody opens the link. */
  readonly isRefused?: boolean;
}

/**
 * Begins a visit: walks as far as the workflow goes without the visitor's answer, records the visit, and only then
 * answers. HEAD takes the same walk and records nothing. Returns a promise only when the walk first has to look
 * something up or to load something. Otherwise, when this function returns, the visitor has been answered or waits for
 * the disk.
 */
export function answerFirstRequest(
  deps: FirstRequestDeps,
  request: LinkRequest,
  plan: Plan,
  onTrouble: (error: unknown) => void,
): void | Promise<void> {
  const now = deps.now();
  const how = askedHow(request.req.headers);
  const seen = see(plan, request, deps.newVisitId(now.getTime()), how);
  if (how === "prefetch") return answerInAdvance(deps, request, plan, seen, now, onTrouble);
  return begin(deps, request, plan, seen, now, onTrouble);
}

function begin(
  deps: FirstRequestDeps,
  request: Answering,
  plan: Plan,
  seen: SeenVisit,
  now: Date,
  onTrouble: (error: unknown) => void,
): void | Promise<void> {
  const visit = deps.visits.of(plan, seen, !request.isHead);
  if (visit instanceof Promise)
    return visit.then((known) => walkOn(deps, request, plan, seen, known, now, onTrouble));
  walkOn(deps, request, plan, seen, visit, now, onTrouble);
}

/**
 * Answers a request that says it is made in advance. A browser is refused, so that it asks again when somebody opens
 * the link. A bot or agent gets its answer, because it will not come back.
 */
async function answerInAdvance(
  deps: FirstRequestDeps,
  request: LinkRequest,
  plan: Plan,
  seen: SeenVisit,
  now: Date,
  onTrouble: (error: unknown) => void,
): Promise<void> {
  const isRefused = !isAutomatic(await deps.visits.actorOf(seen));
  await begin(deps, { ...request, isRefused }, plan, seen, now, onTrouble);
}

function see(plan: Plan, { req, isHead, origin, query }: LinkRequest, id: Buffer, how: AskedHow): SeenVisit {
  const { headers } = req;
  const { level, cookie: keepsCookie } = collect(plan.dataCollection, headers);
  // Only an answer to a visit sets a cookie.
  const givesCookie = keepsCookie && !isHead && how === "visit";
  const sent = keepsCookie ? deviceCookie(headers.cookie) : "";
  return {
    id,
    action: hasScanMarker(query) ? "SCAN" : "CLICK",
    level,
    headers,
    address: origin.address,
    cookie: sent === "" && givesCookie ? randomUUID() : sent,
    cookieWasSent: sent !== "",
    query,
  };
}

function walkOn(
  { recorder, counts, seals, deviceKey }: FirstRequestDeps,
  { res, isHead, isRefused = false }: Answering,
  plan: Plan,
  seen: SeenVisit,
  visit: Visit,
  now: Date,
  onTrouble: (error: unknown) => void,
): void {
  // The handler has refused a test clock that is no time.
  const decided = decide(plan, ruledVisit(plan, visit), ruleTime(plan, visit.query, now) ?? now);
  const isPreview = showsPreview(decided, visit);
  const walk = isPreview ? beforeLast(decided) : decided;
  const envelope: Envelope = {
    isHead,
    isSandbox: plan.environment === "test",
    cookie: isHead ? "" : seen.cookie,
  };
  const opened = () => {
    const { workspaceId, linkId, shortlink } = plan;
    const lbid = lbidOf(seen.id);
    const key = { workspaceId, linkId, eventId: textOfId(seen.id) };
    const sealed = seals.seal(key, beginningOf(plan, seen, visit, walk, deviceKey));
    // A HEAD request leaves no event, so its seal is zeros. The page keeps its length.
    const query = visitQuery(lbid, isHead ? "0".repeat(sealed.length) : sealed);
    const reportTo =
      seen.level === "ADVANCED" && sealed !== ""
        ? `${reportPath}?${query}&${reportedLinkParameter}=${shortlink}`
        : undefined;
    const isOpen = !isHead && sealed !== "" && askedHow(seen.headers) === "visit";
    return { query, reportTo, openVisit: isOpen ? { shortlink, lbid, sealed } : undefined };
  };
  const answer = () => {
    if (isRefused) refuseForNow(res, envelope);
    else answerEnd(res, plan, walk.end, { envelope, isPreview, opened });
  };
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
