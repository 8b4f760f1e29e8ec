import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/grpc/health/v1/health_pb.js";
import type { AddressCount } from "../../lib/limits/address-count.ts";
import { counted } from "./strangers.ts";

export interface HealthOptions {
  /** Full names of the services; all of them share one state. */
  readonly services: readonly string[];
  /** Whether the service can answer calls now. Never rejects. */
  readonly ready: () => Promise<boolean>;
  /** Limits the streams of callers without a token. */
  readonly streams: AddressCount;
  /** Milliseconds between two looks at a watched state; all watchers share each look. */
  readonly watchMs?: number;
}

/** Serves gRPC's standard health service. The empty name stands for the whole service. */
export function routeHealth(
  router: ConnectRouter,
  { services, ready, streams, watchMs = 1_000 }: HealthOptions,
): void {
  const known = new Set(["", ...services]);
  const statusNow = async () => ((await ready()) ? Status.SERVING : Status.NOT_SERVING);
  const nextLook = createLooks(statusNow, watchMs);

  async function* changes(service: string, signal: AbortSignal) {
    let last = known.has(service) ? await statusNow() : Status.SERVICE_UNKNOWN;
    yield { status: last };
    while (!signal.aborted) {
      const status = await nextLook(signal);
      if (signal.aborted || !known.has(service) || status === last) continue;
      last = status;
      yield { status };
    }
  }

  router.service(Health, {
    check: async ({ service }) => {
      if (!known.has(service)) throw new ConnectError("there is no such service", Code.NotFound);
      return { status: await statusNow() };
    },
    list: async () => {
      const status = await statusNow();
      return { statuses: Object.fromEntries([...known].map((name) => [name, { status }])) };
    },
    watch: ({ service }, context) => counted(streams, context, () => changes(service, context.signal)),
  });
}

/** Makes a wait for the next look at the state. All who wait share a look, and nobody looks while nobody waits. */
function createLooks(look: () => Promise<Status>, everyMs: number): (signal: AbortSignal) => Promise<Status> {
  const waiting = new Set<(status: Status) => void>();
  let isSet = false;

  async function tellAll(): Promise<void> {
    const status = await look();
    isSet = false;
    const told = [...waiting];
    waiting.clear();
    for (const tell of told) tell(status);
  }

  return (signal) =>
    new Promise((resolve) => {
      const done = (status: Status) => {
        signal.removeEventListener("abort", giveUp);
        waiting.delete(done);
        resolve(status);
      };
      const giveUp = () => done(Status.UNKNOWN);
      signal.addEventListener("abort", giveUp, { once: true });
      waiting.add(done);
      if (!isSet) setTimeout(() => void tellAll(), everyMs).unref();
      isSet = true;
    });
}
