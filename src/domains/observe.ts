import { nameAndParents } from "./name.ts";
import { type Answer, type CaaRecord, type NameServer, openNameServers } from "./name-server.ts";
import { ownershipRecord } from "./ownership.ts";

/** What one name server says of a domain. */
export interface Sighting {
  /** The name server, for people. */
  readonly server: string;
  readonly cname: Answer<string>;
  readonly addresses: Answer<string>;
  /** The addresses of the service, to which the domain should lead. */
  readonly target: Answer<string>;
  readonly txt: Answer<string>;
  /** The CAA records that count for the domain, and the name at which they stand. */
  readonly caa: { readonly name: string; readonly records: readonly CaaRecord[] } | undefined;
}

/** The zone in which a name stands, and who serves it. */
export interface Zone {
  readonly name: string;
  readonly nameservers: readonly string[];
}

/** Asks name servers. An answer that does not come in time has failed; no question rejects. */
export interface Observer {
  look(name: string): Promise<readonly Sighting[]>;
  /** Undefined when no name servers are found. */
  zoneOf(name: string): Promise<Zone | undefined>;
}

export interface ObserverOptions {
  /** The name servers to ask; those of the system when empty. */
  readonly servers: readonly string[];
  /** The host to which domains should lead. */
  readonly target: string;
  /** How long all questions of a look may take together, in milliseconds; 5,000 when absent. */
  readonly timeoutMs?: number;
}

export function createObserver({ servers, target, timeoutMs = 5_000 }: ObserverOptions): Observer {
  async function asking<Found>(ask: (servers: readonly NameServer[]) => Promise<Found>): Promise<Found> {
    // Each look has its own, so that ending it ends no other.
    const asked = openNameServers(servers, timeoutMs);
    const timer = setTimeout(() => {
      for (const server of asked) server.end();
    }, timeoutMs);
    try {
      return await ask(asked);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async look(name) {
      const places = await nameAndParents(name);
      return asking((asked) => Promise.all(asked.map((server) => sightingOf(server, name, target, places))));
    },
    async zoneOf(name) {
      const places = await nameAndParents(name);
      return asking(async ([server]) => {
        if (server === undefined) return undefined;
        const answers = await Promise.all(places.map((place) => server.ns(place)));
        const found = answers.findIndex((answer) => typeof answer !== "string");
        const [nameservers, zone] = [answers[found], places[found]];
        if (zone === undefined || nameservers === undefined || typeof nameservers === "string")
          return undefined;
        return { name: zone, nameservers: nameservers.toSorted() };
      });
    },
  };
}

async function sightingOf(
  server: NameServer,
  name: string,
  target: string,
  places: readonly string[],
): Promise<Sighting> {
  const [cname, addresses, targets, txt, caa] = await Promise.all([
    server.cname(name),
    server.addresses(name),
    server.addresses(target),
    server.txt(ownershipRecord(name)),
    // The records that stand nearest count (RFC 8659, section 3).
    Promise.all(places.map((place) => server.caa(place))),
  ]);
  const nearest = caa.findIndex((answer) => typeof answer !== "string");
  const records = caa[nearest];
  const counted =
    records === undefined || typeof records === "string"
      ? undefined
      : { name: places[nearest] ?? name, records };
  return { server: server.shown, cname, addresses, target: targets, txt, caa: counted };
}
