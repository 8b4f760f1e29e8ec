import { type ConnectionProvider, Kysely, PostgresDialect } from "kysely";
import type { DB } from "../../gen/database.ts";
import { createTurnstile, type Patience } from "../lib/limits/turnstile.ts";
import type { Db } from "./open.ts";

/** Shares one pool among many owners, each with at most a share of it. */
export interface Turns {
  /**
   * The database for one call of an owner: its statements and transactions wait for their turn. `isLong` marks
   * transactions of many statements.
   */
  of(owner: string, options?: { readonly patience?: Patience; readonly isLong?: boolean }): Db;
  /** Whether so many calls of an owner wait that another one should be refused. */
  isCrowded(owner: string): boolean;
}

export interface TurnsOptions {
  readonly connections: number;
  /** The most connections of one owner; half of all when absent. */
  readonly share?: number;
}

/** The most waiting calls of one owner: more than the burst of a token. */
const lineMax = 250;

/** Shares the connections of a pool. Long transactions never hold the last half of them. */
export function createTurns(db: Db, { connections, share = half(connections) }: TurnsOptions): Turns {
  const longPlaces = half(connections);
  const longShare = Math.ceil(longPlaces / 2);
  const turnstile = createTurnstile({ places: connections, share, longPlaces, longShare });
  const executor = db.getExecutor();
  return {
    of(owner, { patience, isLong = false } = {}) {
      const comer = { owner, isLong };
      const provider: ConnectionProvider = {
        async provideConnection(consumer, options) {
          const turn = turnstile.enter(comer, patience);
          if (turn !== undefined) await turn;
          try {
            return await executor.provideConnection(consumer, options);
          } finally {
            turnstile.leave(comer);
          }
        },
      };
      return onConnections(db, provider);
    },
    isCrowded: (owner) => turnstile.waiting(owner) >= lineMax,
  };
}

function half(connections: number): number {
  return Math.max(1, Math.floor(connections / 2));
}

// Only the dialect's transaction statements are used: connections come from the executor.
const dialect = new PostgresDialect({ pool: () => Promise.reject(new Error("this driver has no pool")) });
const driver = dialect.createDriver();

/** The same database with connections from another provider. */
export function onConnections(db: Db, provider: ConnectionProvider): Db {
  const executor = db.getExecutor().withConnectionProvider(provider);
  return new Kysely<DB>({ config: { dialect }, dialect, driver, executor });
}
