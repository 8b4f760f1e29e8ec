import { callGrpc, grpcConnection } from "../bad-input/send-grpc.ts";
import { exchange, requestBytes } from "../bad-input/send-http.ts";
import { busyMs, busyMsMax, residentMib } from "../support/metrics.ts";
import { randomFrom } from "./random.ts";
import { type FuzzRequest, nextRequest } from "./requests.ts";
import { makeWorld, type Target } from "./world.ts";

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
  /** Called from time to time with the number of sent requests. */
  readonly onProgress?: (sent: number) => void;
}

export interface FuzzReport {
  /** How many requests got which answer, by protocol and answer: `REST 400`, `gRPC INVALID_ARGUMENT`. */
  readonly answers: ReadonlyMap<string, number>;
  /** The requests that were answered by a fault of the service, or that blocked others. */
  readonly faults: readonly string[];
  /** The longest time that the service was busy without a pause, in milliseconds. */
  readonly busyMs: number;
  /** The growth of the process after the first tenth of the requests, in MiB. */
  readonly grownMib: number;
}

/** Requests that run at once. */
const atOnce = 8;
/** How many requests share a world and one read of the metrics. */
const roundSize = 250;

/** Sends changed requests to a service without rate limits. The same seed sends the same requests to a new service. */
export async function fuzz(target: Target, { requests, seed, onProgress }: FuzzOptions): Promise<FuzzReport> {
  const random = randomFrom(seed);
  const sender = createSender(target.port);
  const answers = new Map<string, number>();
  const faults: string[] = [];
  let longest = 0;
  let startMib = 0;
  let sent = 0;
  await makeWorld(target);
  await busyMs(target);
  while (sent < requests) {
    const world = await makeWorld(target);
    const round = Array.from({ length: Math.min(roundSize, requests - sent) }, () =>
      nextRequest(random, world, target.token),
    );
    let slowest = { ms: 0, what: "" };
    await inParallel(round, async (request, index) => {
      const startedAt = performance.now();
      const { answer, fault } = await sender.send(request);
      const ms = performance.now() - startedAt;
      const what = `request ${sent + index}, ${request.door} ${request.what}`;
      if (ms > slowest.ms) slowest = { ms, what };
      const key = `${request.door} ${answer}`;
      answers.set(key, (answers.get(key) ?? 0) + 1);
      if (fault !== undefined) faults.push(`${what}: ${fault}\n${textOf(request)}`);
    });
    sent += round.length;
    const busy = await busyMs(target);
    longest = Math.max(longest, busy);
    if (busy > busyMsMax)
      faults.push(
        `busy for ${busy.toFixed()} ms; ${slowest.what} took ${slowest.ms.toFixed()} ms of all longest`,
      );
    if (startMib === 0 && sent >= requests / 10) startMib = await residentMib(target);
    onProgress?.(sent);
  }
  sender.close();
  return { answers, faults, busyMs: longest, grownMib: (await residentMib(target)) - startMib };
}

async function inParallel<T>(
  items: readonly T[],
  run: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async () => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) await run(item, index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

interface Answered {
  readonly answer: string;
  readonly fault?: string;
}

function createSender(port: number) {
  const { open, close } = grpcConnection(port);

  async function send(request: FuzzRequest): Promise<Answered> {
    try {
      if ("grpc" in request) {
        const { path, headers, body } = request.grpc;
        const { code, reason, message } = await callGrpc(open(), path, headers, body);
        // gRPC requires INTERNAL for a frame that claims compression without a header; its reason names the caller's
        // fault.
        const isFault =
          code === undefined ||
          reason === "INTERNAL" ||
          (ourCodes.has(code) && reason !== "INVALID_ARGUMENT" && !message.includes(withoutModel));
        return { answer: code ?? "nothing", ...(isFault && { fault: `${code} ${reason} ${message}` }) };
      }
      // Some answers have no length, and end with their connection.
      const http = { ...request.http, headers: [...request.http.headers, ["connection", "close"] as const] };
      const answer = await exchange(port, requestBytes(http, port), halfCloseMs);
      const status = answer?.status ?? 0;
      const text = answer?.body.subarray(0, 500).toString() ?? "";
      const isFault = status >= 500 && status !== 501 && !text.includes(withoutModel);
      return {
        answer: status === 0 ? "closed" : String(status),
        ...(isFault && { fault: `${status} ${text}` }),
      };
    } catch (error) {
      return { answer: "nothing", fault: String(error) };
    }
  }

  return { send, close };
}

/** The service of the test has no model, and the assistant says so by 503. */
const withoutModel = "no model is configured for the assistant";

const ourCodes = new Set(["INTERNAL", "UNKNOWN", "DATA_LOSS", "UNAVAILABLE", "DEADLINE_EXCEEDED"]);

/** How long a damaged request waits for more, in milliseconds, before the client ends its side. */
const halfCloseMs = 10_000;

function textOf(request: FuzzRequest): string {
  const text =
    "grpc" in request ? request.grpc.body.toString("base64") : requestBytes(request.http, 0).toString();
  return text.slice(0, 2_000);
}
