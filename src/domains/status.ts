import type { CustomDomainStatus } from "../../gen/database.ts";

/** What is known of a domain. Its status follows from this alone. */
export interface DomainFacts {
  /** When name servers were last asked; null before the first time. */
  readonly checkedAt: Date | null;
  /** Whether the name led here when the name servers last told. */
  readonly pointsHere: boolean;
  /** Since when a domain that served links has led elsewhere. */
  readonly awaySince: Date | null;
  /** When the workspace proved that it owns the name. */
  readonly verifiedAt: Date | null;
  readonly certificateExpiresAt: Date | null;
  readonly certificateNeedsRenewal: boolean;
}

/** What name servers told about a domain. Undefined where they did not answer, or contradicted each other. */
export interface DnsFindings {
  readonly pointsHere: boolean | undefined;
  readonly isOwned: boolean | undefined;
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/** How long a domain that has served links goes on after its name has begun to lead elsewhere, in milliseconds. */
export const awayGraceMs = dayMs;

/** How long a name is held without a proof of ownership, in milliseconds. */
export const unverifiedMs = 7 * dayMs;

/** The status of a domain. `needsCertificate` is false where a proxy in front of the service ends TLS. */
export function statusOf(
  facts: DomainFacts,
  { now, needsCertificate }: { readonly now: Date; readonly needsCertificate: boolean },
): CustomDomainStatus {
  const { checkedAt, pointsHere, verifiedAt, certificateExpiresAt } = facts;
  if (checkedAt === null) return "INACTIVE";
  if (!pointsHere && !isInGrace(facts, now)) return "DOMAIN_PENDING";
  if (verifiedAt === null) return "VERIFICATION_PENDING";
  if (!needsCertificate) return "ACTIVE";
  if (certificateExpiresAt === null) return "CERTIFICATE_PENDING";
  if (certificateExpiresAt <= now) return "EXPIRED";
  return facts.certificateNeedsRenewal ? "RENEWAL_PENDING" : "ACTIVE";
}

/** Whether visitors reach links on a domain of this status, and whether links can be made on it. */
export function isServed(status: CustomDomainStatus): boolean {
  return status === "ACTIVE" || status === "RENEWAL_PENDING";
}

function isInGrace({ awaySince }: DomainFacts, now: Date): boolean {
  return awaySince !== null && now.getTime() < awaySince.getTime() + awayGraceMs;
}

/**
 * What is known after a check. A domain that has led elsewhere for too long may have changed hands, so its ownership has to
 * be proved again.
 */
export function afterCheck(
  before: DomainFacts,
  { pointsHere = before.pointsHere, isOwned }: DnsFindings,
  { now, wasServed }: { readonly now: Date; readonly wasServed: boolean },
): DomainFacts {
  const awaySince = pointsHere ? null : (before.awaySince ?? (wasServed ? now : null));
  const facts = { ...before, checkedAt: now, pointsHere, awaySince };
  const isLost = awaySince !== null && !isInGrace(facts, now);
  const verifiedAt = isLost ? null : before.verifiedAt;
  return { ...facts, verifiedAt: verifiedAt ?? (isOwned === true ? now : null) };
}

/**
 * When a domain is looked at again: every five minutes in the first hour of what is waited for, every hour for three days,
 * then once a day. It is looked at sooner when its status changes by itself.
 */
export function nextCheckAt(
  facts: DomainFacts,
  {
    createdAt,
    now,
    isServed: serves,
  }: { readonly createdAt: Date; readonly now: Date; readonly isServed: boolean },
): Date {
  const { awaySince, certificateExpiresAt } = facts;
  const waits = awaySince ?? (serves ? undefined : createdAt);
  const times = [now.getTime() + intervalMs(waits, now)];
  if (awaySince !== null) times.push(awaySince.getTime() + awayGraceMs);
  if (facts.verifiedAt === null) times.push(createdAt.getTime() + unverifiedMs);
  if (certificateExpiresAt !== null) times.push(certificateExpiresAt.getTime());
  return new Date(Math.min(...times.filter((time) => time > now.getTime())));
}

function intervalMs(since: Date | undefined, now: Date): number {
  if (since === undefined) return dayMs;
  const age = now.getTime() - since.getTime();
  if (age < hourMs) return hourMs / 12;
  return age < 73 * hourMs ? hourMs : dayMs;
}
