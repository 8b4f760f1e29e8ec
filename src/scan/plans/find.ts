import type pg from "pg";
import { planChannel, readPlanChange } from "../../db/channels.ts";
import { listenOn } from "../../db/listen.ts";
import { loadPlan } from "../../db/load-plan.ts";
import type { Db } from "../../db/open.ts";
import { type CacheDeps, createCache, type Known } from "../../lib/caches/heard-cache.ts";
import { entrypointOf } from "../../model/links/entrypoint.ts";
import { parseTarget, type RedirectTarget } from "../../model/links/redirect-target.ts";
import { compilePlan, type Plan, type PlanRow } from "../../model/workflow/plan.ts";
import { loadRoot } from "./load-root.ts";

/** Where the bare address of a custom domain leads; without a target, to the service's own site. */
export type Root = { readonly target: RedirectTarget | undefined };

/** Plans of links and roots of domains, from memory where possible. */
export interface Plans {
  /** The plan of a link that is in memory; a value of undefined says that there is no such link. */
  peek(host: string, shortlink: string): Known<Plan> | undefined;
  /** The plan of a link, by at most one statement. Rejects when it is unknown and the database is away. */
  find(host: string, shortlink: string): Promise<Known<Plan>>;
  /** The root of a custom domain that is in memory; a value of undefined says that the host is unknown. */
  peekRoot(host: string): Known<Root> | undefined;
  /** The root of a custom domain, by at most one statement. */
  findRoot(host: string): Promise<Known<Root>>;
  close(): Promise<void>;
}

export interface PlansDeps {
  readonly db: Db;
  /** For the connection that listens. */
  readonly connection: pg.ClientConfig;
  readonly nowMs: () => number;
  /** Public address of short links without a domain of their own, without a slash at the end. */
  readonly shortUrl: string;
  /** Where pages that name the service lead to; empty for those that do not. */
  readonly brandUrlOf: (row: PlanRow) => string;
  readonly onTrouble: (error: unknown) => void;
  /**
   * The size of the memory for plans, 50,000 shares of up to 4 kB by default. Most plans take one share, at about 2 kB;
   * large workflows take many.
   */
  readonly size?: number;
}

// The minute only matters for changes that nobody announced. Announced changes count at once.
const times = { ttlMs: 60_000, missTtlMs: 5_000, patienceMs: 500 };
const missSize = 20_000;
const rootSize = 5_000;
const shareBytes = 4_096;

/**
 * Opens the memory of plans. It hears of changes by LISTEN, and goes on with what it knows while the database is away.
 */
export async function openPlans(deps: PlansDeps): Promise<Plans> {
  const { db, connection, nowMs, shortUrl, brandUrlOf, onTrouble, size = 50_000 } = deps;
  let hears = () => false;
  const shared = { ...times, missSize, nowMs, hearsChanges: () => hears() } satisfies Partial<
    CacheDeps<object>
  >;

  const plans = createCache<Plan>({
    ...shared,
    size,
    weigh: weightOf,
    async load(key) {
      const slash = key.indexOf("/");
      const row = await loadPlan(db, key.slice(0, slash), key.slice(slash + 1));
      if (row === undefined) return undefined;
      return compilePlan(row, entrypointOf(row, shortUrl), brandUrlOf(row));
    },
  });
  const roots = createCache<Root>({
    ...shared,
    size: rootSize,
    async load(host) {
      const destination = await loadRoot(db, host);
      if (destination === undefined) return undefined;
      return { target: destination === "" ? undefined : parseTarget(destination) };
    },
  });

  function drop(payload: string): void {
    const change = readPlanChange(payload);
    if (change?.kind === "workspace") {
      plans.dropWhere(({ workspaceId }) => workspaceId === change.workspaceId);
      roots.distrustAll();
    } else if (change?.kind === "root") roots.drop(change.host);
    else if (change?.kind === "link") plans.drop(`${change.host}/${change.shortlink}`);
  }

  const changes = await listenOn({
    connection,
    name: "signpost plans",
    channels: [planChannel],
    onNotice: (_channel, payload) => drop(payload),
    onConnect() {
      plans.distrustAll();
      roots.distrustAll();
    },
    onLoss: onTrouble,
  });
  hears = changes.hears;

  return {
    peek: (host, shortlink) => living(plans.peek(`${host}/${shortlink}`), nowMs),
    find: async (host, shortlink) => living(await plans.find(`${host}/${shortlink}`), nowMs),
    peekRoot: roots.peek,
    findRoot: roots.find,
    close: changes.close,
  };
}

/** A plan takes about as much memory as its parts have as JSON. Most plans are smaller than one share. */
function weightOf({ steps, link, pageTheme, media }: Plan): number {
  const bytes = JSON.stringify([...steps.values(), link, pageTheme, media]).length;
  return Math.ceil(bytes / shareBytes);
}

const none = Object.freeze({ value: undefined });

/** Hides the plan of a sandbox that has ended while it was in memory. */
function living<Found extends Known<Plan> | undefined>(
  found: Found,
  nowMs: () => number,
): Found | typeof none {
  const endMs = found?.value?.workspaceExpiresAtMs ?? Number.POSITIVE_INFINITY;
  return endMs !== Number.POSITIVE_INFINITY && endMs <= nowMs() ? none : found;
}
