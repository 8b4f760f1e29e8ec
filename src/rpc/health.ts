import { setTimeout as pause } from "node:timers/promises";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../gen/grpc/health/v1/health_pb.js";

export interface HealthOptions {
  /** Full names of the services, which all share one state. */
  readonly services: readonly string[];
  /** Whether the service can answer calls at this moment. Never rejects. */
  readonly ready: () => Promise<boolean>;
  /** How often a watched state is looked at. */
  readonly watchMs?: number;
}

/** gRPC's standard health service. The empty name stands for the whole service. */
export function routeHealth(
  router: ConnectRouter,
  { services, ready, watchMs = 1_000 }: HealthOptions,
): void {
  const known = new Set(["", ...services]);
  const statusNow = async () => ((await ready()) ? Status.SERVING : Status.NOT_SERVING);

  router.service(Health, {
    check: async ({ service }) => {
      if (!known.has(service)) throw new ConnectError("there is no such service", Code.NotFound);
      return { status: await statusNow() };
    },
    list: async () => {
      const status = await statusNow();
      return { statuses: Object.fromEntries([...known].map((name) => [name, { status }])) };
    },
    async *watch({ service }, { signal }) {
      let last: Status | undefined;
      while (!signal.aborted) {
        const status = known.has(service) ? await statusNow() : Status.SERVICE_UNKNOWN;
        if (status !== last) yield { status };
        last = status;
        await pause(watchMs, undefined, { signal, ref: false }).catch(() => {});
      }
    },
  });
}
