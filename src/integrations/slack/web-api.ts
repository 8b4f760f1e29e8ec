import {
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebClient,
  type WebClientOptions,
} from "@slack/web-api";
import type { CallSlack, SlackProblem } from "./result.ts";

// Only this file imports the library, and it is loaded with the first call: a service that never uses Slack does not
// spend 20 ms and 10 MB on it.

/** The longest answer that is read, in bytes; a page of a thousand channels has about 2 MB. */
const answerBytesMax = 8 * 1024 * 1024;
/** What an answer 429 means when it does not say how long to wait, in seconds. */
const waitUnlessTold = 30;

/** Makes the caller of Slack's methods. It tries once: whether and when to try again is for its callers to decide. */
export function openWebApi(apiUrl: string, answerMs: number): CallSlack {
  const client = new WebClient(undefined, {
    slackApiUrl: `${apiUrl}/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: answerMs,
    allowAbsoluteUrls: false,
    fetch: fetchWithin,
    logger: silent,
  });
  return async (method, arguments_, token) => {
    try {
      const answer = await client.apiCall(method, { ...arguments_, ...(token !== undefined && { token }) });
      return { ok: true, value: { ...answer } };
    } catch (error) {
      return { ok: false, problem: problemOf(error) };
    }
  };
}

/** Slack's words for refusals; anything else is an answer that something else gave. */
const word = /^[a-z][a-z0-9_]{0,99}$/;

function problemOf(error: unknown): SlackProblem {
  if (error instanceof WebAPIRateLimitedError) return { kind: "limited", seconds: error.retryAfter };
  if (!(error instanceof WebAPIPlatformError))
    return { kind: "unreachable", why: error instanceof Error ? error.message : String(error) };
  const refusal: unknown = error.data.error;
  if (typeof refusal !== "string" || !word.test(refusal))
    return { kind: "unreachable", why: "the answer is not one of Slack's" };
  if (refusal === "ratelimited" || refusal === "rate_limited")
    return { kind: "limited", seconds: error.data.response_metadata?.retryAfter ?? waitUnlessTold };
  return { kind: "refused", error: refusal };
}

/** Asks, and reads no more of the answer than it may have. Of its headers only the time to wait is passed on. */
async function fetchWithin(url: string | URL, init?: RequestInit): Promise<Response> {
  const answer = await fetch(url, init);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > answerBytesMax) throw new Error(`the answer has more than ${answerBytesMax} bytes`);
    chunks.push(chunk);
  }
  const headers = answer.status === 429 ? { "retry-after": String(secondsOf(answer)) } : {};
  // A status without a body would refuse an empty one.
  const status = answer.status === 204 ? 200 : answer.status;
  return new Response(Buffer.concat(chunks), { status, headers });
}

function secondsOf({ headers }: Response): number {
  const text = headers.get("retry-after") ?? "";
  return /^\d{1,5}$/.test(text) ? Math.max(1, Number(text)) : waitUnlessTold;
}

const nothing = () => {};
/** The library would write to the console. What goes wrong is in the results of the calls. */
const silent: NonNullable<WebClientOptions["logger"]> = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  setName: nothing,
  getLevel: () => "error" as never,
};
