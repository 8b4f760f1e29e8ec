import { createTurnstile } from "../lib/limits/turnstile.ts";
import { lruCache } from "../lib/lru-cache.ts";
import { within } from "../lib/within.ts";
import type { CertificateDesk } from "./certificates.ts";
import { type Judgement, judge } from "./judge.ts";
import { type NameReading, readDomainName } from "./name.ts";
import { createObserver, type ObserverOptions, type Sighting, type Zone } from "./observe.ts";
import { ownershipToken } from "./ownership.ts";

/** A name, and the workspace that wants it. */
export interface NameOf {
  readonly workspaceId: string;
  readonly name: string;
}

/** What a setup guide shows. */
export interface Surroundings {
  readonly zone: Zone | undefined;
  readonly sightings: readonly Sighting[];
}

/** What is needed to judge domains. */
export interface Domains {
  /** The host to which domains should lead. */
  readonly target: string;
  readonly certificates: CertificateDesk;
  readName(text: string): Promise<NameReading>;
  /** The text that proves that the workspace owns the name. */
  tokenOf(of: NameOf): string;
  /**
   * Asks name servers, and judges what they say. A workspace has a few such checks at a time; the others wait for their turn,
   * for as long as the signal lets them.
   */
  check(of: NameOf & { readonly needsProof: boolean }, signal: AbortSignal): Promise<Judgement>;
  /** Whether so many checks of a workspace wait that another one should be refused. */
  isCrowded(workspaceId: string): boolean;
  /**
   * What name servers said of a name and its zone, at most a minute ago. Nothing when its turn did not come in time: a guide
   * is shown all the same.
   */
  surroundings(of: NameOf, signal: AbortSignal): Promise<Surroundings>;
}

export interface DomainsOptions extends ObserverOptions {
  /** The service's own hosts. */
  readonly ownHosts: readonly string[];
  /** The key for `domain-ownership`. */
  readonly key: Uint8Array;
  readonly certificates: CertificateDesk;
  readonly nowMs: () => number;
}

const nothingSeen: Surroundings = { zone: undefined, sightings: [] };

/** Checks at the same time, and those of one workspace. */
const places = 32;
const share = 4;
const lineMax = 8;

/** How long a check waits for the names of the authorities, in milliseconds. */
const authoritiesMs = 2_000;

/** How long look-ups for a setup guide are kept, in milliseconds, and how many. */
const keptMs = 60_000;
const keptMax = 200;

export function openDomains(options: DomainsOptions): Domains {
  const { ownHosts, key, certificates, target, nowMs } = options;
  const observer = createObserver(options);
  const turnstile = createTurnstile({ places, share, longPlaces: places, longShare: share });
  const kept = lruCache<{ readonly surroundings: Promise<Surroundings>; readonly until: number }>(keptMax);
  const hosts = [...new Set([...ownHosts, target])];

  async function inTurn<Found>(
    owner: string,
    signal: AbortSignal,
    ask: () => Promise<Found>,
  ): Promise<Found> {
    const comer = { owner, isLong: false };
    const turn = turnstile.enter(comer, () => signal);
    if (turn !== undefined) await turn;
    try {
      return await ask();
    } finally {
      turnstile.leave(comer);
    }
  }

  /** Without the names of the authorities nothing is said about CAA records: a check does not wait for an authority. */
  const namesOfAuthorities = () => within(authoritiesMs, certificates.caaIdentities).catch(() => []);

  const tokenOf = ({ workspaceId, name }: NameOf) => ownershipToken(key, workspaceId, name);

  return {
    target,
    certificates,
    readName: (text) => readDomainName(text, hosts),
    tokenOf,
    isCrowded: (workspaceId) => turnstile.waiting(workspaceId) >= lineMax,
    async check({ workspaceId, name, needsProof }, signal) {
      const [sightings, caaIdentities] = await inTurn(workspaceId, signal, () =>
        Promise.all([observer.look(name), namesOfAuthorities()]),
      );
      // A guide that is asked for next shows what the check has seen.
      kept.delete(name);
      return judge(sightings, {
        name,
        target,
        token: tokenOf({ workspaceId, name }),
        needsProof,
        caaIdentities,
      });
    },
    surroundings({ workspaceId, name }, signal) {
      const known = kept.get(name);
      if (known !== undefined && nowMs() < known.until) return known.surroundings;
      const surroundings = inTurn(workspaceId, signal, async () => {
        const [zone, sightings] = await Promise.all([observer.zoneOf(name), observer.look(name)]);
        return { zone, sightings };
      });
      const found = surroundings.catch(() => {
        kept.delete(name);
        return nothingSeen;
      });
      kept.set(name, { surroundings: found, until: nowMs() + keptMs });
      return found;
    },
  };
}
