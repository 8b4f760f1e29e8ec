import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { isUuid, newId } from "../lib/ids.ts";
import { seal, unseal } from "../lib/sealed.ts";

/** The longest time for which an access token can be signed, in milliseconds: first tokens of agents live long. */
export const accessTokenLifeMaxMs = 365 * 24 * 60 * 60 * 1000;

/** A key signs for this long. The first token after that makes the next key. */
const signingMs = 30 * 24 * 60 * 60 * 1000;

/** After this time no token of a key can be valid, even if clocks are a day apart. */
const keptMs = signingMs + accessTokenLifeMaxMs + 24 * 60 * 60 * 1000;

/** Anybody can send tokens that name unknown keys, so readings of the keys begin at least this far apart. */
const readGapMs = 1_000;

export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
}

/** The keys that sign access tokens. All processes share them, and each learns of a new one with its first token. */
export interface SigningKeys {
  /** The key to sign with. Makes one when there is none, or when the newest has signed for long enough. */
  current(): Promise<SigningKey>;
  /** The public key with an id; undefined when there is none. */
  publicKey(id: string): Promise<KeyObject | undefined>;
  /** All public keys, as RFC 7517 writes them. */
  published(): Promise<readonly JsonWebKey[]>;
}

export interface SigningKeysDeps {
  readonly db: Db;
  readonly now: () => Date;
  /** The key for `oauth-signing-keys`. */
  readonly sealingKey: Uint8Array;
}

interface KnownKey {
  readonly id: string;
  readonly createdAtMs: number;
  readonly publicKey: KeyObject;
  readonly sealed: Buffer;
}

export function createSigningKeys({ db, now, sealingKey }: SigningKeysDeps): SigningKeys {
  let known: ReadonlyMap<string, KnownKey> = new Map();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let renewing: Promise<SigningKey> | undefined;
  let signing: (SigningKey & { readonly untilMs: number }) | undefined;

  async function read(): Promise<void> {
    readAt = performance.now();
    const rows = await db.selectFrom("oauth_keys").selectAll().orderBy("created_at").orderBy("id").execute();
    known = new Map(
      rows.map(({ id, public_key, private_key, created_at }) => [
        id,
        {
          id,
          createdAtMs: created_at.getTime(),
          publicKey: createPublicKey({ key: public_key, format: "der", type: "spki" }),
          sealed: private_key,
        },
      ]),
    );
  }

  /** Reads the keys once for all who ask meanwhile. */
  function readSoon(): Promise<void> {
    reading ??= (async () => {
      const wait = readAt + readGapMs - performance.now();
      if (wait > 0) await pause(wait, undefined, { ref: false });
      await read();
    })().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  function newestYoung(): KnownKey | undefined {
    const newest = [...known.values()].at(-1);
    return newest !== undefined && newest.createdAtMs + signingMs > now().getTime() ? newest : undefined;
  }

  async function renew(): Promise<SigningKey> {
    await read();
    if (newestYoung() === undefined) {
      await makeKey(db, now(), sealingKey);
      await read();
    }
    const newest = newestYoung();
    if (newest === undefined) throw new Error("the new signing key is missing");
    const { id, sealed, createdAtMs } = newest;
    const der = unseal(sealed, sealingKey, id);
    const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    signing = { id, privateKey, untilMs: createdAtMs + signingMs };
    return signing;
  }

  return {
    current() {
      if (signing !== undefined && signing.untilMs > now().getTime()) return Promise.resolve(signing);
      // Of many who sign at once one makes a key.
      renewing ??= renew().finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
    async publicKey(id) {
      if (!known.has(id) && isUuid(id)) await readSoon();
      return known.get(id)?.publicKey;
    },
    async published() {
      await readSoon();
      return [...known.values()].map(({ id, publicKey }) => ({
        ...publicKey.export({ format: "jwk" }),
        kid: id,
        alg: "ES256",
        use: "sig",
      }));
    },
  };
}

/** Makes a key, unless another process has just made one. */
async function makeKey(db: Db, at: Date, sealingKey: Uint8Array): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = newId(at);
  const der = privateKey.export({ format: "der", type: "pkcs8" });
  const youngest = new Date(at.getTime() - signingMs);
  await sql`insert into oauth_keys (id, public_key, private_key, created_at)
    select ${id}, ${publicKey.export({ format: "der", type: "spki" })}, ${seal(der, sealingKey, id)}, ${at}
    where not exists (select from oauth_keys where created_at > ${youngest})`.execute(db);
}

/** Deletes the keys whose last tokens have expired. */
export async function deleteOldKeys(db: Db, at: Date): Promise<void> {
  const before = new Date(at.getTime() - keptMs);
  await db.deleteFrom("oauth_keys").where("created_at", "<", before).execute();
}
