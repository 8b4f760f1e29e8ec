import type { Logger } from "pino";
import type { Db } from "../db/open.ts";
import type { ChallengeKind } from "./acme/messages.ts";
import type { AcmeConfig } from "./acme-config.ts";
import type { KeyBox } from "./key-box.ts";
import type { Holder, Turn } from "./queries.ts";

/** What a domain learns about its certificate. */
export interface Learned {
  /** Absent when nothing changed. */
  readonly certificate?: { readonly expiresAt: Date; readonly needsRenewal: boolean };
  /** Why there is no new certificate, as a sentence for the owner; empty when nothing is wrong. */
  readonly certificateFault: string;
}

export interface CertificateDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly keyBox: KeyBox;
  readonly config: AcmeConfig;
  /** The service's own https hosts, which get certificates too. */
  readonly ownNames: readonly string[];
  /** The kinds of challenges that can reach this service; the first one is tried first. */
  readonly kinds: readonly [ChallengeKind, ...ChallengeKind[]];
  /** Tells a domain about its certificate, in the transaction that writes it. */
  readonly settle: (tx: Db, holder: Holder, learned: Learned) => Promise<unknown>;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
}

/** Looks after a name whose turn it is. */
export type LookAfter = (turn: Turn, signal: AbortSignal) => Promise<void>;
