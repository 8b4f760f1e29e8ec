import type { AuthorityOf } from "./acme/authority.ts";
import { AcmeFault } from "./acme/fault.ts";
import { readRenewalWindow } from "./acme/messages.ts";
import type { CertificateDeps } from "./deps.ts";
import type { Turn } from "./queries.ts";
import { latestRenewal, momentIn, nextQuestion } from "./schedule.ts";

/** When a name's certificate is renewed, and when somebody looks again. */
export interface Renewal {
  readonly expiresAt: Date;
  readonly renewAt: Date;
  readonly lookAt: Date;
}

/**
 * When the certificate of a name is to be renewed: when its authority says (RFC 9773), or else as planned when it was
 * signed. Undefined when there is no certificate, or its renewal has begun to fail.
 */
export async function planRenewal(
  { now, config }: CertificateDeps,
  authorityOf: AuthorityOf,
  turn: Turn,
  signal: AbortSignal,
): Promise<Renewal | undefined> {
  const { name, not_before: notBefore, not_after: expiresAt, renew_at: renewAt, directory } = turn;
  if (notBefore === null || expiresAt === null || renewAt === null || turn.failures > 0) return undefined;
  const planned = { expiresAt, renewAt, lookAt: renewAt };
  if (turn.renewal_id === "" || !config.directories.includes(directory)) return planned;
  const authority = authorityOf(directory);
  try {
    const { renewalInfo } = await authority.directory(signal);
    if (renewalInfo === undefined) return planned;
    const { body, retryAfterMs } = await authority.get(`${renewalInfo}/${turn.renewal_id}`, signal);
    const asked = momentIn(name, readRenewalWindow(body));
    const latest = latestRenewal({ notBefore, notAfter: expiresAt });
    const wanted = earlier(asked, latest);
    return { expiresAt, renewAt: wanted, lookAt: earlier(wanted, nextQuestion(now(), retryAfterMs)) };
  } catch (error) {
    if (!(error instanceof AcmeFault)) throw error;
    return { ...planned, lookAt: earlier(renewAt, nextQuestion(now())) };
  }
}

export function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

/** Where a clock is wrong, a certificate may be old when it is new; it is not ordered again at once. */
export function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}
