import type { HttpAnswer, HttpRequest } from "./http.ts";

/** A condition of readiness: its name, and whether it works now. Never rejects. */
export interface Check {
  readonly name: string;
  readonly works: () => Promise<boolean>;
  /** False when the service can answer requests without it, in a degraded way. */
  readonly isNeeded: boolean;
}

export interface OperationsDeps {
  readonly checks: readonly Check[];
  /** True once shutdown has begun, so that load balancers send new requests elsewhere while running ones end. */
  readonly draining: () => boolean;
}

/** Prometheus text of every metric, and its content type. */
export type ReadMetrics = () => Promise<{ text: string; contentType: string }>;

type Operation = (req: HttpRequest, res: HttpAnswer) => Promise<void>;

interface Text {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Answers `/health/live` and `/health/ready`. */
export function operationsHandler(deps: OperationsDeps): Operation {
  return answering((path) => healthOf(deps, path));
}

/** Answers `/metrics`, on a separate port: the metrics are for the operator alone. */
export function metricsHandler(metrics: ReadMetrics): Operation {
  return answering(async (path) => {
    if (path === "/metrics") return { status: 200, ...(await metrics()) };
    return { status: 404, contentType: "text/plain; charset=utf-8", text: "Not found\n" };
  });
}

function answering(textFor: (path: string) => Promise<Text>): Operation {
  return async (req, res) => {
    if (req.method !== "GET" && req.method !== "HEAD") {
      res.writeHead(405, { allow: "GET, HEAD" });
      res.end();
      return;
    }
    const { status, contentType, text } = await textFor(req.url?.split("?")[0] ?? "");
    res.writeHead(status, {
      "content-type": contentType,
      "content-length": Buffer.byteLength(text),
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    res.end(req.method === "HEAD" ? undefined : text);
  };
}

async function healthOf({ checks, draining }: OperationsDeps, path: string): Promise<Text> {
  if (path === "/health/live") return textOf(200, { status: "ok" });
  const missing = await failedChecks(checks);
  const failed = [...(draining() ? ["draining"] : []), ...missing.map(({ name }) => name)];
  if (failed.length === 0) return textOf(200, { status: "ok" });
  const serves = !draining() && missing.every(({ isNeeded }) => !isNeeded);
  return serves
    ? textOf(200, { status: "degraded", failed })
    : textOf(503, { status: "unavailable", failed });
}

async function failedChecks(checks: readonly Check[]): Promise<Check[]> {
  const works = await Promise.all(checks.map((check) => check.works()));
  return checks.filter((_, index) => works[index] !== true);
}

function textOf(
  status: number,
  body: { readonly status: string; readonly failed?: readonly string[] },
): Text {
  return { status, contentType: "application/json", text: `${JSON.stringify(body)}\n` };
}
