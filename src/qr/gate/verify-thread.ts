import { createHash } from "node:crypto";
import { Worker } from "node:worker_threads";
import { fail } from "../../lib/errors.ts";
import { programBeside } from "../../lib/images/ask-process.ts";
import { lruCache } from "../../lib/lru-cache.ts";
import type { Design } from "../drawing/design.ts";
import type { Scannability } from "./verify.ts";

/** A code to draw and read. */
export interface VerifyRequest {
  readonly content: string;
  readonly design: Design;
}

export type VerifyAnswer = { readonly scannability: Scannability } | { readonly error: Error };

/** How many verifications wait at most. Each takes a part of a second. */
const waitingMax = 32;

/** How long the thread waits for its next request before it ends, in milliseconds. Its readers take up memory. */
const idleMs = 60_000;

interface QueuedRequest extends VerifyRequest {
  readonly signal: AbortSignal;
  readonly resolve: (scannability: Scannability) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The verdicts given last, by their requests. An editor saves and asks for the same code again and again, and the same
 * code always has the same verdict. One takes about 4 kB.
 */
const verdicts = lruCache<Scannability>(200);

function keyOf({ content, design: { centralImage, ...look } }: VerifyRequest): string {
  const { png = "", ...place } = centralImage ?? {};
  const hash = createHash("sha256").update(JSON.stringify([content, look, place]));
  return hash.update(png).digest("base64");
}

const waiting: QueuedRequest[] = [];
let running: QueuedRequest | undefined;
let worker: Worker | undefined;
let idle: NodeJS.Timeout | undefined;

/**
 * Gives what `verifyDesign` gives, from a thread of its own, one design after the other: with a code that it cannot
 * read, a reader is busy for up to 300 ms at a time. Rejects when the signal aborts, and with RATE_LIMITED when too
 * many wait.
 */
export async function verifyInThread(
  content: string,
  design: Design,
  signal: AbortSignal,
): Promise<Scannability> {
  const key = keyOf({ content, design });
  const verdict = verdicts.get(key) ?? (await askThread({ content, design, signal }));
  verdicts.set(key, verdict);
  return verdict;
}

function askThread(request: VerifyRequest & { readonly signal: AbortSignal }): Promise<Scannability> {
  if (waiting.length >= waitingMax)
    throw fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", "too many designs are being verified; try again later", {
      retryAfterSeconds: 5,
    });
  return new Promise((resolve, reject) => {
    waiting.push({ ...request, resolve, reject });
    askNext();
  });
}

function askNext(): void {
  if (running !== undefined) return;
  clearTimeout(idle);
  const next = waiting.shift();
  if (next === undefined) {
    idle = setTimeout(end, idleMs).unref();
    return;
  }
  // Nobody waits for the answer any more.
  if (next.signal.aborted) {
    next.reject(next.signal.reason);
    askNext();
    return;
  }
  running = next;
  worker ??= start();
  const { content, design } = next;
  worker.postMessage({ content, design } satisfies VerifyRequest);
}

function end(): void {
  const ended = worker;
  worker = undefined;
  void ended?.terminate();
}

function start(): Worker {
  // Flags of the process, such as --eval, are not meant for the thread.
  const started = new Worker(programBeside(import.meta.url, "verify-worker"), { execArgv: [] });
  // The thread does not keep a process alive that has nothing else to do.
  started.unref();
  started.on("message", (answer: VerifyAnswer) => settle(answer));
  const onEnd = (error: Error) => {
    if (worker !== started) return;
    worker = undefined;
    settle({ error });
  };
  started.on("error", onEnd);
  started.on("exit", () => onEnd(new Error("the verifying thread ended")));
  return started;
}

function settle(answer: VerifyAnswer): void {
  const asked = running;
  running = undefined;
  if ("scannability" in answer) asked?.resolve(answer.scannability);
  else asked?.reject(answer.error);
  askNext();
}
