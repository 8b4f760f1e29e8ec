import { type ConnectionProvider, Kysely, PostgresDialect } from "kysely";
import type { DB } from "../../gen/database.ts";
import { createTurnstile, type Patience } from "../lib/limits/turnstile.ts";
import type { Db } from "./open.ts";

/** One pool for many owners, of whom none gets more than a share of it. */
export interface Turns {
  /**
   * The database for one call of an owner: its statements and transactions wait for their turn. `isLong` is for transactions
   * of many statements.
   */
  of(owner: string, options?: { readonly patience?: Patience; readonly isLong?: boolean }): Db;
  /** Whether so many of an owner wait that one more had better come later. */
  isCrowded(owner: string): boolean;
}

export interface TurnsOptions {
  /** Connections that are shared out. */
  readonly connections: number;
  /** Connections that one owner may hold; half of them when absent. */
  readonly share?: number;
}

/** How many of one owner may wait: what a token may call within its burst, and some more. */
const lineMax = 250;

/** Shares out the connections of a pool. The last half of them is never held by long transactions. */
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

// Only its words for transactions are used: connections come from the executor.
const dialect = new PostgresDialect({ pool: () => Promise.reject(new Error("this driver has no pool")) });
const driver = dialect.createDriver();

/** The same database by connections that come from elsewhere. */
export function onConnections(db: Db, provider: ConnectionProvider): Db {
  const executor = db.getExecutor().withConnectionProvider(provider);
  return new Kysely<DB>({ config: { dialect }, dialect, driver, executor });
}
