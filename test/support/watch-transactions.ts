import type { CompiledQuery, DatabaseConnection } from "kysely";
import type { Db } from "../../src/db/open.ts";
import { onConnections } from "../../src/db/turns.ts";

/**
 * How many turns of the event loop, 10 ms apart, a transaction may spend without a statement; waiting code takes more.
 */
const idleTicksMax = 10;
const tickMs = 10;

export interface WatchedTransactions {
  readonly db: Db;
  /** The last statements of transactions that waited for something else than the database. */
  readonly idle: readonly string[];
}

/** Wraps a database; it records transactions that hold their connection while they wait for something else. */
export function watchTransactions(db: Db): WatchedTransactions {
  const idle: string[] = [];
  const executor = db.getExecutor();
  const watched = onConnections(db, {
    provideConnection: (consumer, options) =>
      executor.provideConnection((connection) => {
        const watch = watchOf((statement) => idle.push(statement));
        return consumer(watchedConnection(connection, watch)).finally(watch.end);
      }, options),
  });
  return { db: watched, idle };
}

interface Watch {
  before(statement: string): void;
  after(statement: string): void;
  end(): void;
}

/** Counts turns of the loop instead of time, which passes by itself on a busy machine. */
function watchOf(onIdle: (statement: string) => void): Watch {
  let ticks = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOpen = false;
  const stop = () => clearInterval(timer);
  return {
    before: stop,
    after(statement) {
      stop();
      if (/^(begin|start transaction)/.test(statement)) isOpen = true;
      if (/^(commit|rollback$)/.test(statement)) isOpen = false;
      if (!isOpen) return;
      timer = setInterval(() => {
        ticks += 1;
        if (ticks === idleTicksMax) onIdle(statement);
      }, tickMs);
    },
    end: stop,
  };
}

function watchedConnection(connection: DatabaseConnection, watch: Watch): DatabaseConnection {
  const executeQuery = async (query: CompiledQuery) => {
    watch.before(query.sql);
    try {
      return await connection.executeQuery(query);
    } finally {
      watch.after(query.sql);
    }
  };
  return new Proxy(connection, {
    get(target, name) {
      if (name === "executeQuery") return executeQuery;
      const value: unknown = Reflect.get(target, name);
      // The object has private fields, so its methods only work on itself.
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
