import { AcmeFault } from "./fault.ts";
import { type Problem, readProblem } from "./messages.ts";

export interface Answer {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** What `Retry-After` asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

export interface AskOptions {
  readonly init?: RequestInit;
  readonly now: () => Date;
  readonly signal?: AbortSignal;
}

/** A chain has some kilobytes, and a directory fewer. */
const answerBytesMax = 128 * 1024;
const answerMs = 30_000;
const dayMs = 24 * 60 * 60 * 1000;

/** Asks an authority, within a time and a size. Redirects are not followed. */
export async function ask(url: string, { init = {}, now, signal }: AskOptions): Promise<Answer> {
  const limits = [AbortSignal.timeout(answerMs), ...(signal === undefined ? [] : [signal])];
  try {
    const response = await fetch(url, {
      ...init,
      redirect: "manual",
      signal: AbortSignal.any(limits),
      headers: { "user-agent": "signpost", ...init.headers },
    });
    const { status, headers } = response;
    return { url, status, headers, body: await readWithin(response), retryAfterMs: waitOf(headers, now()) };
  } catch (cause) {
    throw away(url, cause);
  }
}

/** Says that the authority of an address does not answer. */
export function away(url: string, cause?: unknown): AcmeFault {
  return new AcmeFault("away", `The certificate authority ${hostOf(url)} cannot be reached.`, { cause });
}

/** Gives an answer that is a success back, and throws what any other one says. */
export function succeeded(answer: Answer): Answer {
  const { url, status, retryAfterMs } = answer;
  if (status >= 200 && status < 300) return answer;
  const host = hostOf(url);
  const problem = problemIn(answer);
  const details = { problem: problem?.type ?? "", retryAfterMs };
  if (problem?.type === "rateLimited" || status === 429 || (status === 503 && retryAfterMs !== undefined)) {
    const message = `The certificate authority ${host} asks for patience${said(problem?.detail)}.`;
    throw new AcmeFault("limited", message, details);
  }
  if (problem === undefined || status >= 500)
    throw new AcmeFault(
      "away",
      `The certificate authority ${host} answered with HTTP status ${status}.`,
      details,
    );
  const kind = problem.type === "accountDoesNotExist" ? "account" : "refused";
  throw new AcmeFault(kind, `The certificate authority ${host} refused${said(problem.detail)}.`, details);
}

/** The problem document of an answer that is no success. */
export function problemIn({ headers, body }: Answer): Problem | undefined {
  const isProblem = /^application\/problem\+json\b/.test(headers.get("content-type") ?? "");
  return isProblem ? readProblem(body) : undefined;
}

/** What somebody else said, as the end of a sentence. */
export function said(detail = ""): string {
  return detail === "" ? "" : `: ${detail.replace(/\.$/, "")}`;
}

async function readWithin({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > answerBytesMax) throw new Error(`the answer has more than ${answerBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Reads `Retry-After`, in seconds or as a date; at most a day. */
function waitOf(headers: Headers, at: Date): number | undefined {
  const text = headers.get("retry-after") ?? "";
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text.slice(0, 40)) - at.getTime();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), dayMs);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}
