import { Pool } from "undici";
import type { FetchPolicy } from "./address-rules.ts";
import { type ConnectionRules, createPinnedConnector } from "./pinned-connector.ts";

/** The connections to other hosts, a few of each. */
export interface OriginPools {
  poolOf(origin: string, policy: FetchPolicy): Pool;
  /** Ends running requests at once. */
  close(): Promise<void>;
}

/** How many hosts keep connections open for the next request; the one that waited longest gives its place up. */
const poolsMax = 256;

/** How many connections a host gets at a time; further requests wait for one of them. */
export const connectionsPerOrigin = 16;

/** Idle connections end soon, whatever the other side proposes, and all end in time, so that moved hosts are found. */
const [idleMs, livesMs] = [4_000, 300_000];

export function createOriginPools(
  rules: ConnectionRules & { readonly firstByteMs: number; readonly headBytesMax: number },
): OriginPools {
  const pools = new Map<string, Pool>();
  return {
    poolOf(origin, policy) {
      const key = `${policy.cleartext} ${origin}`;
      const pool =
        pools.get(key) ??
        new Pool(origin, {
          connect: createPinnedConnector(rules, policy),
          connections: connectionsPerOrigin,
          allowH2: false,
          pipelining: 1,
          keepAliveTimeout: idleMs,
          keepAliveMaxTimeout: idleMs,
          clientTtl: livesMs,
          headersTimeout: rules.firstByteMs,
          bodyTimeout: rules.firstByteMs,
          maxHeaderSize: rules.headBytesMax,
        });
      // Whoever is used last stands last.
      pools.delete(key);
      pools.set(key, pool);
      if (pools.size > poolsMax) dropOldest(pools);
      return pool;
    },

    async close() {
      const open = [...pools.values()];
      pools.clear();
      await Promise.all(open.map((pool) => pool.destroy()));
    },
  };
}

/** Closes the pool that waited longest; its running requests end first. */
function dropOldest(pools: Map<string, Pool>): void {
  const [[key, pool] = []] = pools;
  if (key === undefined || pool === undefined) return;
  pools.delete(key);
  void pool.close().catch(() => {});
}
