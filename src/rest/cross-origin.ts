import type { DescMethodUnary } from "@bufbuild/protobuf";
import { header, type RestRequest } from "./body.ts";
import type { RestResponse } from "./respond.ts";
import type { RestRouter } from "./router.ts";

/** The headers that browsers let pages of other origins send (Fetch standard, 3.2). */

const requestHeaders = "Authorization, Content-Type, Idempotency-Key";
const answerHeaders = "X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, Idempotent-Replayed";
const preflightSeconds = 7_200;

/** Lets pages of any origin read the answer. The API reads no cookies, so a foreign page gains no rights. */
export function allowOrigin(res: RestResponse): void {
  res.setHeader("access-control-allow-origin", "*");
  res.setHeader("access-control-expose-headers", answerHeaders);
}

/** Whether a browser asks, on behalf of a page, if it may send a request. */
export function isPreflight(req: RestRequest): boolean {
  return req.method === "OPTIONS" && header(req, "access-control-request-method") !== undefined;
}

export interface PreflightOptions {
  readonly router: RestRouter;
  readonly isCrossOrigin?: (method: DescMethodUnary) => boolean;
}

/**
 * Answers a preflight for a method that pages of any origin may call. Returns false, without an answer, for any other.
 */
export function preflight(
  req: RestRequest,
  res: RestResponse,
  requestId: string,
  { router, isCrossOrigin }: PreflightOptions,
): boolean {
  const [path = ""] = (req.url ?? "").split("?", 1);
  const match = router.match(header(req, "access-control-request-method") ?? "", path);
  if (match.kind !== "found" || isCrossOrigin?.(match.binding.method) !== true) return false;
  allowOrigin(res);
  res.setHeader("access-control-allow-methods", match.binding.httpMethod);
  res.setHeader("access-control-allow-headers", requestHeaders);
  res.setHeader("access-control-max-age", String(preflightSeconds));
  res.setHeader("x-request-id", requestId);
  res.statusCode = 204;
  res.end();
  return true;
}
