import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import {
  createFaultFinder,
  type FetchPolicy,
  type FindAddressFault,
  RefusedAddress,
} from "./address-rules.ts";
import { causeOf, type FailureCause } from "./fetch-failure.ts";
import { createOriginPools, type OriginPools } from "./origin-pools.ts";
import { noProxies, type ProxySettings } from "./proxies.ts";
import { type AddressFault, readAddress } from "./read-address.ts";
import { createHostResolver, type ResolveHost } from "./resolve-host.ts";
import { createAddressJudge } from "./special-addresses.ts";

export interface FetchOrder extends FetchPolicy {
  /** The address as the customer gave it. */
  readonly address: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** How many bytes of the answer's body are kept; 1,024 when absent, and 65,537 at most. */
  readonly keepBytes?: number;
  /** Asks for an early end, after which the outcome says nothing. */
  readonly signal?: AbortSignal;
}

/** How a request to a customer's address ended. Redirects are answers like others and are never followed. */
export type FetchOutcome = { readonly milliseconds: number } & (
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      /** The first bytes of the body. */
      readonly head: Buffer;
    }
  | { readonly kind: "refused"; readonly fault: AddressFault }
  | { readonly kind: "failed"; readonly cause: FailureCause }
);

/** The only way to addresses that customers give. */
export interface SafeFetch {
  readonly faultOf: FindAddressFault;
  /** Sends a request; never rejects. */
  send(order: FetchOrder): Promise<FetchOutcome>;
  close(): Promise<void>;
}

export interface SafeFetchOptions {
  /** Networks in CIDR form that customers may reach although they are private. */
  readonly allowedNetworks?: readonly string[];
  readonly proxies?: ProxySettings;
  readonly resolve?: ResolveHost;
  /** The longest connect, wait for the answer, and request as a whole, in milliseconds. */
  readonly timeouts?: { readonly connectMs: number; readonly firstByteMs: number; readonly wholeMs: number };
}

/** How many bytes of an answer's body are read; the connection of a longer one is closed. */
const bodyBytesMax = 64 * 1024;
/** How many bytes of it are kept, unless the order says otherwise. */
const headBytesMax = 1024;
const defaultTimeouts = { connectMs: 5_000, firstByteMs: 10_000, wholeMs: 15_000 };

export function createSafeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const { proxies = noProxies, resolve = createHostResolver(), timeouts = defaultTimeouts } = options;
  const judge = createAddressJudge(options.allowedNetworks ?? []);
  const { connectMs, firstByteMs, wholeMs } = timeouts;
  const rules = { resolve, judge, proxies, connectMs, firstByteMs, headBytesMax: 16 * 1024 };
  const pools = createOriginPools(rules);
  return {
    faultOf: createFaultFinder(rules),

    async send(order) {
      const began = performance.now();
      const ended = await run(pools, order, wholeMs);
      return { ...ended, milliseconds: Math.round(performance.now() - began) };
    },

    close: () => pools.close(),
  };
}

type Ended<Outcome> = Outcome extends unknown ? Omit<Outcome, "milliseconds"> : never;

function run(pools: OriginPools, order: FetchOrder, wholeMs: number): Promise<Ended<FetchOutcome>> {
  const read = readAddress(order.address);
  if ("fault" in read) return Promise.resolve({ kind: "refused", fault: read.fault });
  const { promise, resolve } = Promise.withResolvers<Ended<FetchOutcome>>();
  const { origin, pathname, search } = read.url;
  const { method, headers, body = null, signal } = order;
  const { reader, end } = answerReader(wholeMs, order.keepBytes ?? headBytesMax, resolve);
  if (signal?.aborted) end();
  signal?.addEventListener("abort", end, { once: true });
  pools.poolOf(origin, order).dispatch({ path: `${pathname}${search}`, method, headers, body }, reader);
  return promise.finally(() => signal?.removeEventListener("abort", end));
}

/**
 * Reads the answer of one request, as far as it is read at all. Only the first call of `resolve` counts. `end` gives the
 * request up, as the time-out does.
 */
function answerReader(
  wholeMs: number,
  keepBytes: number,
  resolve: (outcome: Ended<FetchOutcome>) => void,
): { readonly reader: Dispatcher.DispatchHandler; readonly end: () => void } {
  let running: Dispatcher.DispatchController | undefined;
  let isOver = false;
  let [status, headers, bytes]: [number, IncomingHttpHeaders, number] = [0, {}, 0];
  const chunks: Buffer[] = [];
  const end = () => {
    isOver = true;
    resolve({ kind: "failed", cause: "time-out" });
    running?.abort(overdue);
  };
  const timer = setTimeout(end, wholeMs);
  const answered = () => {
    clearTimeout(timer);
    resolve({ kind: "answered", status, headers, head: Buffer.concat(chunks).subarray(0, keepBytes) });
  };
  const reader: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      running = controller;
      // The time may have passed while the request waited for a connection.
      if (isOver) controller.abort(overdue);
    },
    onResponseStart(_controller, newStatus, newHeaders) {
      [status, headers] = [newStatus, newHeaders];
    },
    onResponseData(controller, chunk) {
      // A copy: the chunk is a part of a buffer that will be used again.
      if (bytes < keepBytes) chunks.push(Buffer.from(chunk.subarray(0, keepBytes)));
      bytes += chunk.length;
      if (bytes <= bodyBytesMax) return;
      answered();
      controller.abort(overlong);
    },
    onResponseEnd: answered,
    onResponseError(_controller, error) {
      clearTimeout(timer);
      if (error instanceof RefusedAddress) resolve({ kind: "refused", fault: error.fault });
      else resolve({ kind: "failed", cause: causeOf(error) });
    },
  };
  return { reader, end };
}

const overdue = new Error("the request took too long");
const overlong = new Error("the answer is too long");
