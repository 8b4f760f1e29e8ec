import { inTransaction } from "../db/open.ts";
import { type Authority, type AuthorityOf, createAuthority } from "./acme/authority.ts";
import { dropChallenges } from "./challenges.ts";
import type { CertificateDeps, LookAfter } from "./deps.ts";
import { createOrderAnywhere, type Outcome } from "./order-anywhere.ts";
import { endTurn, findHolder, type Holder, keepCertificate, type Turn } from "./queries.ts";
import { planRenewal, type Renewal } from "./renewal.ts";
import { nextTry } from "./schedule.ts";

/** Makes what looks after one name: is its certificate wanted, is it time for another one, and how did the order end. */
export function createLookAfter(deps: CertificateDeps): LookAfter {
  const { db, now, ownNames } = deps;
  const authorities = new Map<string, Authority>();
  const authorityOf: AuthorityOf = (directory) => {
    const known = authorities.get(directory) ?? createAuthority(directory, now);
    authorities.set(directory, known);
    return known;
  };
  const orderAnywhere = createOrderAnywhere(deps, authorityOf);

  return async (turn, signal) => {
    const isOwn = ownNames.includes(turn.name);
    const holder = isOwn ? undefined : await findHolder(db, turn.name);
    if (!isOwn && holder === undefined) {
      await endTurn(db, turn, { nextAt: null, renewAt: turn.renew_at, failures: 0, lastError: "" });
      return;
    }
    const renewal = await planRenewal(deps, authorityOf, turn, signal);
    if (renewal !== undefined && now() < renewal.renewAt) {
      await goOn(deps, turn, holder, renewal);
      return;
    }
    try {
      await note(deps, turn, holder, await orderAnywhere(turn, signal));
    } finally {
      await dropChallenges(db, turn.name);
    }
  };
}

/** The certificate is good for longer. Its domain may have been away, and learns of it. */
async function goOn(
  { db, settle }: CertificateDeps,
  turn: Turn,
  holder: Holder | undefined,
  { expiresAt, renewAt, lookAt }: Renewal,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const isOurs = await endTurn(tx, turn, { nextAt: lookAt, renewAt, failures: 0, lastError: "" });
    if (isOurs && holder !== undefined)
      await settle(tx, holder, { certificate: { expiresAt, needsRenewal: false }, certificateFault: "" });
  });
}

/** Writes down how an order ended, and tells the domain. */
async function note(
  { db, now, settle, log }: CertificateDeps,
  turn: Turn,
  holder: Holder | undefined,
  outcome: Outcome,
): Promise<void> {
  const at = now();
  const { name } = turn;
  if (outcome.kind === "signed") {
    const { kept, lookAt } = outcome;
    await inTransaction(db, async (tx) => {
      const isOurs = await keepCertificate(tx, turn, kept, { at, nextAt: lookAt });
      if (isOurs && holder !== undefined)
        await settle(tx, holder, {
          certificate: { expiresAt: kept.notAfter, needsRenewal: false },
          certificateFault: "",
        });
    });
    log.info({ name, expires: kept.notAfter }, "a certificate was signed");
    return;
  }
  const failures = turn.failures + (outcome.isCounted ? 1 : 0);
  const nextAt = outcome.isCounted ? nextTry(name, failures, at, outcome.retryAfterMs) : outcome.until;
  const lastError = outcome.message;
  log.warn({ name, reason: lastError, failures, nextAt }, "no certificate was signed");
  const expiresAt = turn.not_after;
  await inTransaction(db, async (tx) => {
    const isOurs = await endTurn(tx, turn, { nextAt, renewAt: turn.renew_at, failures, lastError });
    if (!isOurs || holder === undefined) return;
    await settle(tx, holder, {
      ...(expiresAt !== null && { certificate: { expiresAt, needsRenewal: true } }),
      certificateFault: lastError,
    });
  });
}
