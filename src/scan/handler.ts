import type { IncomingMessage, ServerResponse } from "node:http";
import { badTestClock } from "../hosted/notice.ts";
import type { Known } from "../lib/caches/heard-cache.ts";
import type { Origin } from "../lib/client-address.ts";
import type { MissLimit } from "../lib/limits/miss-limit.ts";
import { targetUrl } from "../model/links/redirect-target.ts";
import { shortlinkPattern } from "../model/links/shortlink.ts";
import type { Plan } from "../model/workflow/plan.ts";
import { reportedLinkParameter, reportPath, reportScript } from "../pages/device-report.ts";
import { askedHow } from "./device/asked-how.ts";
import { answerFirstRequest, type FirstRequestDeps, type LinkRequest } from "./first/first-request.ts";
import { cardsPath, type SendCard } from "./pages/link-cards.ts";
import { noIcon, plain, redirect, robots, script, show, showNotice } from "./pages/respond.ts";
import { lookOf } from "./pages/step-page.ts";
import type { Plans, Root } from "./plans/find.ts";
import type { ShortHosts } from "./plans/hosts.ts";
import type { GoOn } from "./steps/open-visit.ts";
import type { StepHandler } from "./steps/step-handler.ts";
import type { TakeReport } from "./steps/take-report.ts";
import { hasTestClock, passedOn, ruleTime } from "./visit/test-clock.ts";

/** Answers any path of any host that is not the API's, in HTTP/1.1 and HTTP/2. */
export type ScanHandler = (req: IncomingMessage, res: ServerResponse) => void;

export interface HandlerDeps extends FirstRequestDeps {
  readonly plans: Pick<Plans, "peek" | "find" | "peekRoot" | "findRoot">;
  readonly misses: MissLimit;
  readonly hostOf: ShortHosts;
  /** Who asks, and for which host, after trusted proxies. */
  readonly originOf: (req: IncomingMessage) => Origin;
  /**
   * Where the bare address of the service's own short host leads. Undefined for a page that says what this service is.
   */
  readonly siteUrl: string | undefined;
  readonly steps: StepHandler;
  readonly goOn: GoOn;
  readonly takeReport: TakeReport;
  readonly sendCard: SendCard;
  readonly onTrouble: (error: unknown) => void;
}

interface ScanRequest extends LinkRequest {
  readonly host: string;
  readonly path: string;
}

const shortlinkPath = new RegExp(`^/(${shortlinkPattern})/?$`);
const stepPath = new RegExp(
  `^/(${shortlinkPattern})/s/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(/card[.]vcf)?$`,
);
const cardPath = new RegExp(`^${cardsPath}(${shortlinkPattern})[.]jpg$`);
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
  const host = deps.hostOf(origin.host);
  if (host === undefined) {
    deps.counts.unknown += 1;
    showNotice(res, "NOT_FOUND", { ...plain, isHead });
    return;
  }
  const request: ScanRequest = { req, res, isHead, origin, host, path, query };
  if (path === reportPath && method === "POST") {
    answerReport(deps, request);
    return;
  }
  const shortlink = shortlinkPath.exec(path)?.[1];
  const step = shortlink === undefined ? stepPath.exec(path) : null;
  if (method !== "GET" && !isHead && (method !== "POST" || step === null)) {
    showNotice(res, "WRONG_METHOD", plain, {
      headers: ["Allow", step === null ? "GET, HEAD" : "GET, HEAD, POST"],
    });
    return;
  }
  if (shortlink !== undefined) {
    withPlan(deps, request, shortlink, (plan, onTrouble) => {
      answerLink(deps, request, plan, onTrouble)?.catch(onTrouble);
    });
  } else if (step !== null) {
    const [, stepsOf = "", stepId = "", card] = step;
    withPlan(deps, request, stepsOf, (plan, onTrouble) => {
      deps.steps({ ...request, plan, stepId, isCard: card !== undefined }).catch(onTrouble);
    });
  } else answerElsewhere(deps, request);
}

/** Takes what a page tells about its device. The link's name stands in the query, because visits belong to links. */
function answerReport(deps: HandlerDeps, request: ScanRequest): void {
  const shortlink = new URLSearchParams(request.query).get(reportedLinkParameter) ?? "";
  if (!shortlinkPath.test(`/${shortlink}`)) {
    showNotice(request.res, "BAD_REQUEST", plain);
    return;
  }
  withPlan(deps, request, shortlink, (plan, onTrouble) => {
    deps.takeReport({ ...request, plan }).catch(onTrouble);
  });
}

/**
 * Lets a browser that has a visit of this link open go on with it. For any other request, and for one that names the time
 * itself, a visit begins.
 */
function answerLink(
  deps: HandlerDeps,
  request: ScanRequest,
  plan: Plan,
  onTrouble: (error: unknown) => void,
): void | Promise<void> {
  const { headers } = request.req;
  const mayGoOn = !request.isHead && askedHow(headers) === "visit" && !hasTestClock(plan, request.query);
  if (mayGoOn && deps.goOn(request, plan)) return;
  return answerFirstRequest(deps, request, plan, onTrouble);
}

type UsePlan = (plan: Plan, onTrouble: (error: unknown) => void) => void;

/** Finds the link and goes on with its plan, or says that there is none. */
function withPlan(deps: HandlerDeps, request: ScanRequest, shortlink: string, use: UsePlan): void {
  const { plans, misses } = deps;
  const { res, host, origin } = request;
  const known = plans.peek(host, shortlink);
  if (known !== undefined) {
    usePlan(deps, request, known.value, use);
    return;
  }
  if (!misses.allows(origin.address)) {
    refuseMisses(deps, request);
    return;
  }
  plans
    .find(host, shortlink)
    .then(({ value }) => {
      if (value === undefined) misses.charge(origin.address);
      usePlan(deps, request, value, use);
    })
    .catch((error: unknown) => fail(deps, res, error));
}

function refuseMisses({ counts }: HandlerDeps, { res, isHead }: ScanRequest): void {
  counts.limited += 1;
  showNotice(res, "TOO_MANY_MISSES", { ...plain, isHead }, { headers: retryAfterMinute });
}

function usePlan(deps: HandlerDeps, request: ScanRequest, plan: Plan | undefined, use: UsePlan): void {
  const { res, isHead } = request;
  if (plan === undefined) {
    deps.counts.unknown += 1;
    showNotice(res, "NOT_FOUND", { ...plain, isHead });
    return;
  }
  const isSandbox = plan.environment === "test";
  const { expiresAtMs } = plan;
  if (isSandbox || expiresAtMs !== Number.POSITIVE_INFINITY) {
    const at = ruleTime(plan, request.query, deps.now());
    if (at === undefined) {
      show(res, badTestClock(lookOf(plan)), { ...plain, isHead, isSandbox });
      return;
    }
    if (expiresAtMs <= at.getTime()) {
      answerExpired(deps, request, plan);
      return;
    }
  }
  use(plan, (error) => fail(deps, res, error, isSandbox));
}

/**
 * Sends every request of an expired link on, or says that the link has expired. Such a request counts neither as a
 * visit nor as a step of one.
 */
function answerExpired({ counts }: HandlerDeps, request: ScanRequest, plan: Plan): void {
  const { res, isHead } = request;
  const { afterExpiry, environment } = plan;
  const query = passedOn(plan, request.query);
  const envelope = { ...plain, isHead, isSandbox: environment === "test" };
  counts.expired += 1;
  if (afterExpiry === undefined) showNotice(res, "EXPIRED", envelope, { look: lookOf(plan) });
  else redirect(res, targetUrl(afterExpiry, query, ""), envelope);
}

function answerElsewhere(deps: HandlerDeps, request: ScanRequest): void {
  const { res, isHead, origin, path } = request;
  const card = cardPath.exec(path)?.[1];
  if (path === "/") answerRoot(deps, request);
  else if (card !== undefined) {
    withPlan(deps, request, card, (plan, onTrouble) => {
      const envelope = { ...plain, isHead, isSandbox: plan.environment === "test" };
      deps.sendCard({ res, plan, address: origin.address }, envelope).catch(onTrouble);
    });
  } else if (path === "/robots.txt") robots(res, { ...plain, isHead });
  else if (path === "/favicon.ico") noIcon(res);
  else if (path === reportScript.path) script(res, reportScript.bytes, { ...plain, isHead });
  else if (path === reportPath)
    showNotice(res, "WRONG_METHOD", { ...plain, isHead }, { headers: ["Allow", "POST"] });
  else showNotice(res, "NOT_FOUND", { ...plain, isHead });
}

/** A bare host leaves no visit. An unknown host counts as a miss, like an unknown link. */
function answerRoot(deps: HandlerDeps, request: ScanRequest): void {
  const { plans, misses, siteUrl } = deps;
  const { res, isHead, host, origin } = request;
  const envelope = { ...plain, isHead };
  const toSite = () => {
    if (siteUrl === undefined) showNotice(res, "HOME", envelope);
    else redirect(res, siteUrl, envelope);
  };
  if (host === "") {
    toSite();
    return;
  }
  const toRoot = ({ value }: Known<Root>) => {
    if (value?.target !== undefined) redirect(res, value.target.url, envelope);
    else if (value !== undefined) toSite();
    else showNotice(res, "NOT_FOUND", envelope);
  };
  const known = plans.peekRoot(host);
  if (known !== undefined) {
    toRoot(known);
    return;
  }
  if (!misses.allows(origin.address)) {
    refuseMisses(deps, request);
    return;
  }
  plans
    .findRoot(host)
    .then((found) => {
      if (found.value === undefined) misses.charge(origin.address);
      toRoot(found);
    })
    .catch((error: unknown) => fail(deps, res, error));
}

/**
 * Answers when the database is away and the link is not in memory, and after a bug of ours. Visitors are told the same.
 */
function fail(deps: HandlerDeps, res: ServerResponse, error: unknown, isSandbox = false): void {
  deps.counts.failed += 1;
  deps.onTrouble(error);
  if (!res.headersSent)
    showNotice(res, "UNAVAILABLE", { ...plain, isSandbox }, { headers: retryAfterSecond });
  else res.end();
}
