import { createSecureContext, type SecureContext } from "node:tls";
import type pg from "pg";
import { planChannel, readPlanChange } from "../db/channels.ts";
import { listenOn } from "../db/listen.ts";
import type { Db } from "../db/open.ts";
import { type Cache, createCache } from "../lib/caches/heard-cache.ts";
import { ownText } from "../lib/own-text.ts";
import { findAuthorization, findChallengeCertificate } from "./challenges.ts";
import type { KeyBox } from "./key-box.ts";
import { type LoadedCertificate, loadCertificate } from "./load-certificate.ts";
import { createReadyContexts, type KeyPair } from "./ready-contexts.ts";
import { createStrangerLooks } from "./stranger-looks.ts";

/** Finds certificates, mostly in memory, and answers to challenges. Nothing here rejects but `close`. */
export interface HostCertificates {
  /** The certificate for a name that is in memory. */
  peek(name: string): SecureContext | undefined;
  /** The certificate for a name that the client at `address` asks for. */
  find(name: string, address: string): Promise<SecureContext | undefined>;
  /** The certificate for clients that name no host; the same object until it changes. */
  findOwn(): Promise<KeyPair | undefined>;
  /** The answer over TLS to an authority's challenge. */
  findChallenge(name: string, address: string): Promise<SecureContext | undefined>;
  /** The answer over HTTP to an authority's challenge. */
  findAuthorization(name: string, token: string, address: string): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface HostCertificatesDeps {
  readonly db: Db;
  /** For the connection that hears of changes. */
  readonly connection: pg.ClientConfig;
  readonly keyBox: KeyBox;
  readonly now: () => Date;
  /** The service's own hosts. The certificate of the first one is for clients that name no host. */
  readonly ownNames: readonly string[];
  /** The operator's certificate for them; without one they get certificates like all others. */
  readonly ownPair: KeyPair | undefined;
  readonly onTrouble: (error: unknown) => void;
  /** How long a client waits for the database, in milliseconds; 1,000 when absent. */
  readonly lookMs?: number;
}

// Changes are heard of; the times matter only for changes that nobody announced.
const times = { ttlMs: 10 * 60_000, missTtlMs: 30_000, patienceMs: 500 };
/** How many shares of certificates are kept, at up to 4 kB each; a certificate with its chain and key takes one. */
const keptSize = 12_000;
const shareBytes = 4_096;
const missSize = 20_000;

/** Opens the memory of certificates. While the database is away it goes on with what it knows. */
export async function openHostCertificates(deps: HostCertificatesDeps): Promise<HostCertificates> {
  const { now, onTrouble, ownNames, ownPair } = deps;
  const nowMs = () => now().getTime();
  const own = new Set(ownNames);
  const looks = createStrangerLooks(deps.db, nowMs, deps.lookMs);
  const ready = createReadyContexts({ keyBox: deps.keyBox, nowMs, onTrouble });
  const ownContext = ownPair && createSecureContext({ ...ownPair, minVersion: "TLSv1.2" });
  let hears = () => false;
  const kept = createCache<LoadedCertificate>({
    ...times,
    nowMs,
    size: keptSize,
    missSize,
    weigh: ({ chain, sealedKey }) => Math.ceil((chain.length + sealedKey.length) / shareBytes),
    hearsChanges: () => hears(),
    load: (name) => looks.look((db) => loadCertificate(db, name, { isOwn: own.has(name), at: now() })),
  });
  const changes = await hearChanges(deps, kept);
  hears = changes.hears;

  /** Gives nothing where something cannot be found out. */
  async function orNothing<Found>(find: () => Promise<Found | undefined>): Promise<Found | undefined> {
    try {
      return await find();
    } catch (error) {
      onTrouble(error);
      return undefined;
    }
  }

  async function find(name: string, address: string): Promise<SecureContext | undefined> {
    const known = kept.peek(name);
    if (known !== undefined) return ready.contextOf(name, known.value);
    // A name that was served is looked up again however many strangers ask for others.
    if (!kept.keeps(name) && !looks.allows(address)) return undefined;
    // The name is a piece of the client's message, which is not kept for it.
    const key = ownText(name);
    const { value } = await kept.find(key);
    if (value === undefined) looks.charge(address);
    return ready.contextOf(key, value);
  }

  async function findOwn(): Promise<KeyPair | undefined> {
    const [name] = ownNames;
    if (name === undefined) return undefined;
    const { value } = kept.peek(name) ?? (await kept.find(name));
    return ready.pairOf(name, value);
  }

  const peekOwn = (name: string) => (own.has(name) ? ownContext : undefined);
  return {
    peek: (name) => peekOwn(name) ?? ready.contextOf(name, kept.peek(name)?.value),
    find: async (name, address) => peekOwn(name) ?? orNothing(() => find(name, address)),
    findOwn: async () => ownPair ?? orNothing(findOwn),
    findChallenge: (name, address) =>
      orNothing(async () => {
        const found = await looks.search(address, (db) => findChallengeCertificate(db, name, now()));
        return found && createSecureContext({ cert: found.chain, key: found.private_key });
      }),
    findAuthorization: (name, token, address) =>
      orNothing(() => looks.search(address, (db) => findAuthorization(db, name, token, now()))),
    close: changes.close,
  };
}

function hearChanges({ connection, onTrouble }: HostCertificatesDeps, kept: Cache<LoadedCertificate>) {
  return listenOn({
    connection,
    name: "signpost certificates",
    channels: [planChannel],
    onNotice(_channel, payload) {
      const change = readPlanChange(payload);
      if (change?.kind === "root") kept.drop(change.host);
      else if (change?.kind === "workspace")
        kept.dropWhere(({ workspaceId }) => workspaceId === change.workspaceId);
    },
    onConnect: kept.distrustAll,
    onLoss: onTrouble,
  });
}
