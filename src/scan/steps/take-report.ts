import type { IncomingMessage, ServerResponse } from "node:http";
import type { Origin } from "../../lib/client-address.ts";
import type { MissLimit } from "../../lib/limits/miss-limit.ts";
import { lruCache } from "../../lib/lru-cache.ts";
import type { Plan } from "../../model/workflow/plan.ts";
import { collect } from "../device/collection.ts";
import { readReport } from "../device/device-report.ts";
import { addEnvelope } from "../pages/respond.ts";
import type { VisitReport } from "../spool/report-record.ts";
import type { VisitSeals } from "../visit/seal.ts";
import { bodyOf, isOwnPost } from "./read-form.ts";
import { readRequest, type StepAsked } from "./step-request.ts";

export interface ReportRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly origin: Origin;
  readonly plan: Plan;
  readonly query: string;
}

export interface ReportDeps {
  readonly seals: VisitSeals;
  /** The key of device cookies, in hexadecimal. */
  readonly deviceKey: string;
  readonly now: () => Date;
  /** Limits how many reports come from one address. */
  readonly limit: MissLimit;
  /** Resolves once the report is on disk. */
  readonly record: (report: VisitReport, now: Date) => Promise<void>;
}

/** Takes what the page of a visit tells about its device. */
export type TakeReport = (request: ReportRequest) => Promise<void>;

/** A report is about 300 bytes long. */
const bytesMax = 2_048;

/** A somewhat longer body is read to its end, so that its sender hears why it was refused. */
const readBytesMax = 64 * 1_024;

/** A page reports when it is shown. */
const ageMsMax = 30 * 60_000;

/** How many reported visits are remembered. */
const reportedMax = 20_000;

/**
 * Takes one report of each visit, from the browser that made the visit: it needs the visit's seal, the device's cookie, and
 * to come from a page of the same host. It answers without a body, because nobody reads it.
 */
export function createTakeReport(deps: ReportDeps): TakeReport {
  const reported = lruCache<true>(reportedMax);
  return async (request) => {
    const { req, res, origin } = request;
    const end = (status: number) => answer(res, request.plan, status);
    const asked = readRequest(deps, request);
    if (asked === undefined) return end(400);
    if (!mayReport(deps, request, asked)) return end(403);
    if (req.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() !== "application/json")
      return end(415);
    if (!deps.limit.allows(origin.address)) return end(429);
    deps.limit.charge(origin.address);
    const body = await bodyOf(req, readBytesMax);
    // What is left of such a body is never read, so the connection ends after the answer.
    if (body === undefined) res.once("finish", () => req.destroy());
    if (body === undefined || body.length > bytesMax) return end(413);
    const report = readReport(parsed(body));
    if (report === undefined) return end(400);
    const { workspaceId, eventId } = asked.key;
    const visit = `${workspaceId}/${eventId}`;
    if (!reported.has(visit)) {
      reported.set(visit, true);
      await deps.record({ workspaceId, eventId, report }, asked.now);
    }
    return end(204);
  };
}

/** Whether the browser that made the visit reports, about a visit of which so much may be kept. */
function mayReport({ seals }: ReportDeps, { req, origin, plan }: ReportRequest, asked: StepAsked): boolean {
  const { key, sealed, cookieHash, now } = asked;
  const state = seals.open(key, sealed, now);
  if (state === undefined || now.getTime() - state.activeAtMs > ageMsMax) return false;
  const level = collect(plan.dataCollection, req.headers).level;
  if (state.level !== "ADVANCED" || level !== "ADVANCED") return false;
  const hasCookie = cookieHash !== "" && cookieHash === state.cookieHash;
  return (
    hasCookie && isOwnPost(req.headers.origin, origin, { keepsCookie: true, cookieWasSent: true, hasCookie })
  );
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function answer(res: ServerResponse, { environment }: Plan, status: number): void {
  const length = status === 204 ? [] : ["Content-Length", "0"];
  const headers = ["Cache-Control", "no-store", "X-Robots-Tag", "noindex", ...length];
  addEnvelope(headers, "", environment === "test");
  res.writeHead(status, headers);
  res.end();
}
