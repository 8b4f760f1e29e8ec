import type { Answer, Request } from "./http.ts";

/** What readiness depends on: a name and whether it works at this moment. Never rejects. */
export interface Check {
  readonly name: string;
  readonly works: () => Promise<boolean>;
}

export interface OperationsDeps {
  readonly checks: readonly Check[];
  /** True once shutdown has begun, so that load balancers look elsewhere while running requests end. */
  readonly draining: () => boolean;
  /** Prometheus text of every metric, and its content type. */
  readonly metrics: () => Promise<{ text: string; contentType: string }>;
}

/** Answers `/health/live`, `/health/ready` and `/metrics`. */
export function operationsHandler(deps: OperationsDeps): (req: Request, res: Answer) => Promise<void> {
  return async (req, res) => {
    if (req.method !== "GET" && req.method !== "HEAD") {
      res.writeHead(405, { allow: "GET, HEAD" });
      res.end();
      return;
    }
    const { status, contentType, text } = await answerFor(deps, req.url?.split("?")[0] ?? "");
    res.writeHead(status, {
      "content-type": contentType,
      "content-length": Buffer.byteLength(text),
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    res.end(req.method === "HEAD" ? undefined : text);
  };
}

async function answerFor(
  { checks, draining, metrics }: OperationsDeps,
  path: string,
): Promise<{ status: number; contentType: string; text: string }> {
  if (path === "/metrics") return { status: 200, ...(await metrics()) };
  const failed = draining() ? ["draining"] : [];
  if (path === "/health/ready") {
    const works = await Promise.all(checks.map((check) => check.works()));
    failed.push(...checks.flatMap((check, index) => (works[index] ? [] : [check.name])));
  }
  const ok = failed.length === 0 || path === "/health/live";
  const body = ok ? { status: "ok" } : { status: "unavailable", failed };
  return { status: ok ? 200 : 503, contentType: "application/json", text: `${JSON.stringify(body)}\n` };
}
