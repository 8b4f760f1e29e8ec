import type { Logger } from "pino";
import type { Entitlements } from "../../db/entitlements.ts";
import type { Db } from "../../db/open.ts";
import type { CallError, Code } from "../../lib/errors.ts";
import { cycleOf } from "../../model/plans/cycle.ts";
import type { Entitlement } from "../../model/plans/entitlement.ts";
import { limitReached } from "../../model/plans/limit-reached.ts";
import { apiCallsKey, type CallCount, createCallWriter, findCalls } from "./write-api-calls.ts";

/** Counts the calls that tokens and grants make. */
export interface ApiCalls {
  /** Begins a call. Waits only for what this process has not read yet; undefined when it cannot be read. */
  begin(workspaceId: string, at: Date): CountedCall | Promise<CountedCall | undefined>;
  /** Writes the calls counted so far. */
  flush(): Promise<void>;
  /** Writes the last calls and stops. */
  close(): Promise<void>;
}

/** A call that has begun. */
export interface CountedCall {
  /** The refusal of a call beyond the plan; undefined for others. */
  refusal(): CallError | undefined;
  /** Ends the call, which counts unless it was refused or the service is at fault. */
  end(code: Code | "OK"): void;
}

export interface ApiCallsDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly entitlements: Entitlements;
  readonly log: Pick<Logger, "warn">;
}

/** The answers that are not counted: refusals for want of a token or of a rate, and faults of the service. */
const uncounted: ReadonlySet<Code | "OK"> = new Set<Code>([
  ...(["UNAUTHENTICATED", "RESOURCE_EXHAUSTED"] as const),
  ...(["UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"] as const),
]);

interface Counter extends CallCount {
  entitlement: Entitlement;
  /** Calls that have begun and may count. */
  running: number;
  /** The calls within the plan and those beyond it, each as one object, because there are many calls. */
  readonly within: CountedCall;
  readonly beyond: CountedCall;
}

/** How many counters are kept. Those of idle workspaces are dropped when there are more. */
const countersMax = 10_000;

/**
 * Counts in memory, and adds the counts of all processes up once a second. So a limit holds exactly in one process, and
 * is overstepped by the calls of a second where several serve a workspace. While the database is away, calls of
 * workspaces that are not known yet pass uncounted.
 */
export function createApiCalls({ db, now, entitlements, log }: ApiCallsDeps): ApiCalls {
  const counters = new Map<string, Counter>();
  const { touch, warn, flush, close } = createCallWriter({ db, log });

  async function beginNew(workspaceId: string, at: Date): Promise<CountedCall | undefined> {
    try {
      const entitlement = await entitlements.of(workspaceId, db);
      const cycle = cycleOf(at, entitlement.timezone);
      // A workspace whose zone has changed, or a process whose clock went back, goes on with the later month.
      const isRunning = () => (counters.get(workspaceId)?.cycle.month ?? "") >= cycle.month;
      if (!isRunning()) {
        const used = await findCalls(db, workspaceId, cycle.month);
        // Another call may have read it first. The counter of an earlier cycle is written all the same.
        if (!isRunning()) keep(counters, newCounter({ workspaceId, cycle, used, entitlement }));
      }
      const counter = counters.get(workspaceId);
      return counter && enter(counter, entitlement);
    } catch (error) {
      warn(error);
      return undefined;
    }
  }

  function newCounter(count: Pick<Counter, "workspaceId" | "cycle" | "used" | "entitlement">): Counter {
    const finish = (code: Code | "OK") => {
      if (uncounted.has(code)) return;
      counter.unwritten += 1;
      touch(counter);
    };
    const counter: Counter = {
      ...count,
      allowed: undefined,
      unwritten: 0,
      running: 0,
      within: {
        refusal: () => undefined,
        end(code) {
          counter.running -= 1;
          finish(code);
        },
      },
      beyond: { refusal: () => limitReached(apiCallsKey, counter.entitlement, now()), end: finish },
    };
    return counter;
  }

  return {
    begin(workspaceId, at) {
      const counter = counters.get(workspaceId);
      if (counter === undefined || at >= counter.cycle.end || at < counter.cycle.start)
        return beginNew(workspaceId, at);
      const entitlement = entitlements.known(workspaceId, at);
      return entitlement === undefined ? beginNew(workspaceId, at) : enter(counter, entitlement);
    },
    flush,
    close,
  };
}

function enter(counter: Counter, entitlement: Entitlement): CountedCall {
  if (entitlement !== counter.entitlement || counter.allowed === undefined) {
    const allowed = entitlement.limits[apiCallsKey];
    counter.entitlement = entitlement;
    counter.allowed = typeof allowed === "number" ? allowed : undefined;
  }
  const { allowed, used, unwritten, running } = counter;
  if (allowed !== undefined && used + unwritten + running >= allowed) return counter.beyond;
  counter.running += 1;
  return counter.within;
}

function keep(counters: Map<string, Counter>, counter: Counter): void {
  counters.set(counter.workspaceId, counter);
  if (counters.size <= countersMax) return;
  for (const [id, { unwritten, running }] of counters) {
    if (unwritten + running === 0) counters.delete(id);
    if (counters.size <= countersMax / 2) return;
  }
}
