import { startPeer } from "./peer-process.ts";
import { atLeast, type Finding, inTurn, medianOf } from "./report.ts";
import { processorMs, startServiceProcess } from "./service-process.ts";

/** A unary call through the whole service, compared with the same handler behind plain @grpc/grpc-js. */
export async function grpcRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess({ env: { ROLES: "api" } });
  const peer = await startPeer("grpc-js-server.ts");
  const client = await startPeer("grpc-load.ts");
  try {
    const task = {
      path: "/signpost.v1.ApiScopesService/List",
      authorization: `Bearer ${service.credentials.accessToken}`,
      sessions: 4,
      concurrency: 64,
      ms: quick ? 2_000 : 4_000,
    };
    const load = async ({ port, pid }: { readonly port: number; readonly pid: number }) => {
      const before = await processorMs(pid);
      const { calls, seconds } = await client.ask<{ calls: number; seconds: number }>({ ...task, port });
      return {
        perSecond: calls / seconds,
        microseconds: (((await processorMs(pid)) - before) * 1000) / calls,
      };
    };
    await inTurn(
      1,
      () => load(peer),
      () => load(service),
    );
    const reports = await inTurn(
      quick ? 3 : 5,
      () => load(peer),
      () => load(service),
    );
    // The client takes as long for a call as the servers, so processor time says more than the rate.
    const cost = (side: keyof typeof reports) => medianOf(reports[side], ({ microseconds }) => microseconds);
    const rate = (side: keyof typeof reports) => medianOf(reports[side], ({ perSecond }) => perSecond);
    return [
      atLeast("gRPC unary, calls a second of processor time", {
        ours: 1e6 / cost("ours"),
        peer: 1e6 / cost("peer"),
        unit: "/s",
        budget: 0.7,
      }),
      atLeast("  calls a second, client on the same machine", {
        ours: rate("ours"),
        peer: rate("peer"),
        unit: "/s",
        budget: 0.7,
      }),
    ];
  } finally {
    await Promise.all([client.end(), peer.end()]);
    await service.remove();
  }
}
