import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Origin } from "../lib/client-address.ts";
import type { Plan } from "../model/plan.ts";
import { hasScanMarker } from "../model/redirect-target.ts";
import { collect } from "./collection.ts";
import { decide } from "./decide.ts";
import type { Plans } from "./find.ts";
import type { ShortHosts } from "./hosts.ts";
import type { ScanCounts } from "./metrics.ts";
import type { MissLimit } from "./miss-limit.ts";
import { pickLanguage } from "./pages/languages.ts";
import { type Notice, notice } from "./pages/notice.ts";
import type { Recorder } from "./record.ts";
import { encodeVisit } from "./record-format.ts";
import { deviceCookie, type Envelope, noIcon, plain, redirect, robots, show } from "./respond.ts";
import { lbidOf, type NewVisitId } from "./visit-id.ts";

/** Answers any path of any host that is not the API's, in HTTP/1.1 and HTTP/2. */
export type ScanHandler = (req: IncomingMessage, res: ServerResponse) => void;

export interface HandlerDeps {
  readonly plans: Pick<Plans, "peek" | "find" | "findRoot">;
  readonly recorder: Pick<Recorder, "record">;
  readonly misses: MissLimit;
  readonly hostOf: ShortHosts;
  /** Who asks, and for which host, after trusted proxies. */
  readonly originOf: (req: IncomingMessage) => Origin;
  readonly newVisitId: NewVisitId;
  readonly now: () => Date;
  /** Where the bare address of the service's own short host leads; without it, to a page that says what this is. */
  readonly siteUrl: string | undefined;
  readonly counts: ScanCounts;
  readonly onTrouble: (error: unknown) => void;
}

interface Request {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly isHead: boolean;
  readonly origin: Origin;
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

const shortlinkPath = /^\/([A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?)\/?$/;
const retryAfterMinute = ["Retry-After", "60"];
const retryAfterSecond = ["Retry-After", "1"];

/** Makes the handler: find, decide, record, respond, and nothing else on the way. */
export function createHandler(deps: HandlerDeps): ScanHandler {
  return (req, res) => {
    try {
      answer(deps, req, res);
    } catch (error) {
      fail(deps, res, error);
    }
  };
}

function answer(deps: HandlerDeps, req: IncomingMessage, res: ServerResponse): void {
  const { method, url = "" } = req;
  const isHead = method === "HEAD";
  if (method !== "GET" && !isHead) {
    showNotice(res, "WRONG_METHOD", plain, ["Allow", "GET, HEAD"]);
    return;
  }
  if (!url.startsWith("/")) {
    showNotice(res, "BAD_REQUEST", { ...plain, isHead });
    return;
  }
  const fragment = url.indexOf("#");
  const target = fragment < 0 ? url : url.slice(0, fragment);
  const question = target.indexOf("?");
  const path = question < 0 ? target : target.slice(0, question);
  const query = question < 0 ? "" : target.slice(question + 1);
  const origin = deps.originOf(req);
  const request: Request = { req, res, isHead, origin, host: deps.hostOf(origin.host), path, query };
  const shortlink = shortlinkPath.exec(path)?.[1];
  if (shortlink === undefined) answerElsewhere(deps, request);
  else answerShortlink(deps, request, shortlink);
}

function answerShortlink(deps: HandlerDeps, request: Request, shortlink: string): void {
  const { plans, misses } = deps;
  const { res, host, origin } = request;
  const known = plans.peek(host, shortlink);
  if (known !== undefined) {
    answerPlan(deps, request, known.value);
    return;
  }
  if (!misses.allows(origin.address)) {
    deps.counts.limited += 1;
    showNotice(res, "TOO_MANY_MISSES", { ...plain, isHead: request.isHead }, retryAfterMinute);
    return;
  }
  plans
    .find(host, shortlink)
    .then(({ value }) => {
      if (value === undefined) misses.charge(origin.address);
      answerPlan(deps, request, value);
    })
    .catch((error: unknown) => fail(deps, res, error));
}

function answerPlan(deps: HandlerDeps, request: Request, plan: Plan | undefined): void {
  const { req, res, isHead, query } = request;
  if (plan === undefined) {
    deps.counts.unknown += 1;
    showNotice(res, "NOT_FOUND", { ...plain, isHead });
    return;
  }
  const now = deps.now();
  const isSandbox = plan.environment === "test";
  const id = deps.newVisitId(now.getTime());
  const outcome = decide(plan, { query, lbid: () => (isHead ? "" : lbidOf(id)) }, now);
  if (isHead) {
    respond(res, outcome.to, { isHead, isSandbox, cookie: "" });
    return;
  }
  const { level, cookie: keepsCookie } = collect(plan.dataCollection, req.headers);
  const sent = keepsCookie ? deviceCookie(req.headers.cookie) : "";
  const cookie = sent === "" && keepsCookie ? randomUUID() : sent;
  const bytes = encodeVisit(
    plan,
    {
      id,
      action: hasScanMarker(query) ? "SCAN" : "CLICK",
      level,
      headers: req.headers,
      address: request.origin.address,
      cookie,
      cookieWasSent: sent !== "",
    },
    outcome,
  );
  if (outcome.outcome === "COMPLETED") deps.counts.completed += 1;
  else deps.counts.fallback += 1;
  deps.recorder.record(id, bytes, () => {
    try {
      respond(res, outcome.to, { isHead, isSandbox, cookie });
    } catch (error) {
      fail(deps, res, error);
    }
  });
}

/** Says what is the matter, in the visitor's language. */
function showNotice(
  res: ServerResponse,
  kind: Notice,
  envelope: Envelope,
  more: readonly string[] = [],
): void {
  show(res, notice(kind, pickLanguage(res.req.headers["accept-language"])), envelope, more);
}

function respond(res: ServerResponse, to: string, envelope: Envelope): void {
  if (to === "") showNotice(res, "NOT_AVAILABLE", envelope);
  else redirect(res, to, envelope);
}

function answerElsewhere(deps: HandlerDeps, request: Request): void {
  const { res, isHead, path } = request;
  if (path === "/") answerRoot(deps, request);
  else if (path === "/robots.txt") robots(res, { ...plain, isHead });
  else if (path === "/favicon.ico") noIcon(res);
  else showNotice(res, "NOT_FOUND", { ...plain, isHead });
}

/** Roots are not tracked. */
function answerRoot(deps: HandlerDeps, request: Request): void {
  const { plans, siteUrl } = deps;
  const { res, isHead, host } = request;
  const envelope = { ...plain, isHead };
  const toSite = () => {
    if (siteUrl === undefined) showNotice(res, "HOME", envelope);
    else redirect(res, siteUrl, envelope);
  };
  if (host === "") {
    toSite();
    return;
  }
  plans
    .findRoot(host)
    .then(({ value }) => {
      if (value?.target !== undefined) redirect(res, value.target.url, envelope);
      else if (value !== undefined) toSite();
      else showNotice(res, "NOT_FOUND", envelope);
    })
    .catch((error: unknown) => fail(deps, res, error));
}

/** A link that is not in memory while the database is away, or a bug; visitors are told the same. */
function fail(deps: HandlerDeps, res: ServerResponse, error: unknown): void {
  deps.counts.failed += 1;
  deps.onTrouble(error);
  if (!res.headersSent) showNotice(res, "UNAVAILABLE", plain, retryAfterSecond);
  else res.end();
}
