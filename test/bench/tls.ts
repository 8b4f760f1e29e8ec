import { once } from "node:events";
import tls from "node:tls";
import { type PeerProcess, startPeer } from "./peer-process.ts";
import { atLeast, atMost, type Finding, inTurn, median, percentile, told } from "./report.ts";
import { startServiceProcess } from "./service-process.ts";

const names = 1_000;
const concurrent = 8;

interface Usage {
  readonly cpuMs: number;
  readonly rssMb: number;
}

interface Load {
  /** Processor time of the server for one handshake, in milliseconds. */
  readonly cpuMs: number;
  readonly latencies: readonly number[];
}

/** Handshakes with many names, whose certificates come from the database, against one certificate of bare node:tls. */
export async function tlsRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const handshakes = quick ? 2_000 : 10_000;
  const service = await startServiceProcess({ env: { ROLES: "api" } });
  const client = await service.database();
  const { host, port, user, database } = client;
  const bare = await startPeer("bare-tls.ts");
  const ours = await startPeer("named-tls.ts", { connection: { host, port, user, database }, names });
  try {
    // Each name once: from the database to memory.
    const cold = await load(ours, names, (index) => index);
    const random = (index: number) => (index * 7_919) % names;
    const rounds = quick ? 1 : 3;
    const part = Math.round(handshakes / rounds);
    const full = await inTurn(
      rounds,
      () => load(bare, part, () => 0),
      () => load(ours, part, random),
    );
    const again = await inTurn(
      rounds,
      () => resumed(bare, part, () => 0),
      () => resumed(ours, part, random),
    );
    const { rssMb } = await ours.ask<Usage>({});
    const rate = (loads: readonly Load[]) => 1_000 / median(loads.map(({ cpuMs }) => cpuMs));
    const p99 = (loads: readonly Load[]) =>
      percentile(
        loads.flatMap(({ latencies }) => latencies),
        0.99,
      );
    const compared = (loads: typeof full) => ({
      ours: rate(loads.ours),
      peer: rate(loads.peer),
      unit: "/s",
      budget: 0.8,
    });
    return [
      atLeast(`full handshakes of ${names} names, a second of processor time`, compared(full)),
      atLeast("  resumed ones", compared(again)),
      told("  p99 of full ones", {
        ours: p99(full.ours),
        peer: `${p99(full.peer).toFixed(1)} ms`,
        unit: "ms",
      }),
      told("  p99 of the first one of each name", { ours: percentile(cold.latencies, 0.99), unit: "ms" }),
      atMost(`  memory of ${names} names`, { ours: rssMb, unit: "MB", budget: 120 }),
    ];
  } finally {
    await Promise.all([bare.end(), ours.end()]);
    await client.end();
    await service.remove();
  }
}

type Choose = (index: number) => number;

const nameAt = (index: number) => `d${index}.customer.example`;

async function load(
  server: PeerProcess,
  count: number,
  choose: Choose,
  sessions?: readonly Buffer[],
): Promise<Load> {
  const before = await server.ask<Usage>({});
  const latencies: number[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < count; index = next++) {
      const session = sessions?.[index % sessions.length];
      const startedAt = performance.now();
      const socket = connect(
        server,
        nameAt(sessions === undefined ? choose(index) : choose(index % sessions.length)),
        session,
      );
      await once(socket, "secureConnect");
      latencies.push(performance.now() - startedAt);
      if (sessions !== undefined && !socket.isSessionReused()) throw new Error("a session was not resumed");
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: concurrent }, work));
  const after = await server.ask<Usage>({});
  return { cpuMs: (after.cpuMs - before.cpuMs) / count, latencies };
}

/** Goes on with sessions that some first handshakes have left. */
async function resumed(server: PeerProcess, count: number, choose: Choose): Promise<Load> {
  const sessions: Buffer[] = [];
  for (let index = 0; index < 100; index++) {
    const socket = connect(server, nameAt(choose(index)));
    const [session]: Buffer[] = await once(socket, "session");
    if (session !== undefined) sessions.push(session);
    socket.destroy();
  }
  return load(server, count, choose, sessions);
}

function connect({ port }: PeerProcess, servername: string, session?: Buffer): tls.TLSSocket {
  return tls.connect({
    port,
    host: "127.0.0.1",
    servername,
    rejectUnauthorized: false,
    ...(session && { session }),
  });
}
