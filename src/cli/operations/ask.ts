import { setTimeout as pause } from "node:timers/promises";
import { type BadField, exitCodeOf, exitCodes, RefusedError } from "../outcome.ts";
import type { Connection } from "../profiles.ts";
import { isJsonObject, type JsonObject } from "./flag-values.ts";
import type { RestCall } from "./request.ts";

/** A successful answer. */
export interface ServiceAnswer {
  /** The body as received. */
  readonly bytes: Uint8Array;
  /** The body as text. */
  readonly text: string;
  /** The body; an empty object when it is no JSON object. */
  readonly json: JsonObject;
  readonly contentType: string;
  readonly retryAfterSeconds: number | undefined;
  /** Whether an earlier call with the same key was answered with this. */
  readonly isReplay: boolean;
}

/** Asks the service. Throws a RefusedError when it refuses or cannot be reached. */
export type Ask = (call: RestCall, idempotencyKey?: string) => Promise<ServiceAnswer>;

/** The most milliseconds of a call; longer than the service's own limit. */
const timeoutMs = 60_000;

/** The most attempts of one call, while the service says that it should be repeated. */
const triesMax = 4;

/** The longest wait that the service may ask for, in seconds; after a longer one the command gives up. */
const waitSecondsMax = 20;

/** Calls over HTTP. After 429 and 503 it repeats the call a few times, after the wait that the service names. */
export function createAsk({ baseUrl, accessToken }: Connection): Ask {
  return async (call, idempotencyKey) => {
    const headers = {
      accept: call.accept ?? "application/json",
      "user-agent": "signpost-cli",
      ...(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }),
      ...(call.body === undefined ? {} : { "content-type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    };
    for (let tries = 1; ; tries++) {
      const { response, bytes } = await send(baseUrl, call, headers);
      const text = Buffer.from(bytes).toString("utf8");
      const retryAfterSeconds = secondsOf(response.headers.get("retry-after"));
      const json = objectOf(text);
      const isReplay = response.headers.get("idempotent-replayed") === "true";
      const contentType = response.headers.get("content-type") ?? "";
      if (response.ok) return { bytes, text, json, contentType, retryAfterSeconds, isReplay };
      const isPassing = response.status === 429 || response.status === 503;
      if (!isPassing || tries >= triesMax || (retryAfterSeconds ?? Number.POSITIVE_INFINITY) > waitSecondsMax)
        throw refusalOf(response, json);
      await pause((retryAfterSeconds ?? 0) * 1000);
    }
  };
}

async function send(
  baseUrl: string,
  { httpMethod, target, body }: RestCall,
  headers: Readonly<Record<string, string>>,
): Promise<{ response: Response; bytes: Uint8Array }> {
  try {
    const response = await fetch(`${baseUrl}${target}`, {
      method: httpMethod,
      headers,
      // A redirect must not carry the token to another address than the configured one.
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
    });
    return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
  } catch (error) {
    throw unreachable(baseUrl, error);
  }
}

function unreachable(baseUrl: string, error: unknown): RefusedError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  // For a name with several addresses, fetch fails with a list of errors that has a code and no message.
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const why = cause instanceof Error && cause.message !== "" ? cause.message : code;
  return new RefusedError({
    reason: "UNREACHABLE",
    message: `${baseUrl} cannot be reached: ${why}`,
    exitCode: exitCodes.unavailable,
    fields: [],
    facts: {},
    requestId: undefined,
  });
}

function secondsOf(header: string | null): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

function objectOf(text: string): JsonObject {
  try {
    const json: unknown = JSON.parse(text);
    return isJsonObject(json) ? json : {};
  } catch {
    return {};
  }
}

function refusalOf(response: Response, json: JsonObject): RefusedError {
  const error = isJsonObject(json.error) ? json.error : {};
  const isOurs = typeof error.codeType === "string";
  return new RefusedError({
    reason: isOurs ? String(error.codeType) : `HTTP ${response.status}`,
    message: isOurs ? String(error.message ?? "") : "the address answers, but not as this service does",
    exitCode: exitCodeOf(response.status),
    ...detailsOf(error.details),
    requestId: response.headers.get("x-request-id") ?? undefined,
  });
}

/** Reads the bad fields and the further facts from an error's details. */
function detailsOf(details: unknown): { fields: BadField[]; facts: Record<string, string> } {
  const fields: BadField[] = [];
  const facts: Record<string, string> = {};
  for (const detail of Array.isArray(details) ? details : []) {
    if (!isJsonObject(detail)) continue;
    for (const violation of Array.isArray(detail.fieldViolations) ? detail.fieldViolations : [])
      fields.push({ field: String(violation.field), description: String(violation.description) });
    for (const violation of Array.isArray(detail.violations) ? detail.violations : [])
      fields.push({ field: String(violation.subject ?? ""), description: String(violation.description) });
    if (isJsonObject(detail.metadata))
      for (const [name, value] of Object.entries(detail.metadata)) facts[name] = String(value);
  }
  return { fields, facts };
}
