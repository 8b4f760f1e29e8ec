import { createHash } from "node:crypto";

/** When somebody looks at a certificate again. Pure: moments come in, and a moment comes out. */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The pauses after failed orders of a name. */
const pausesMs = [1, 5, 15, 60, 180, 360, 720, 1440].map((minutes) => minutes * minuteMs);
/** How long an authority is left alone that did not answer. */
const awayMs = [1, 2, 5, 10, 20, 30, 60].map((minutes) => minutes * minuteMs);

/**
 * When a certificate is renewed: at two thirds of its life. Names differ by up to a sixtieth of it either way, so that
 * those of one day do not come back on one day.
 */
export function renewalMoment(
  name: string,
  life: { readonly notBefore: Date; readonly notAfter: Date },
): Date {
  const [from, until] = [life.notBefore.getTime(), life.notAfter.getTime()];
  const part = 2 / 3 + (fractionOf(`${name} ${from}`) - 0.5) / 30;
  return new Date(Math.round(from + (until - from) * part));
}

/** A name's moment within the time in which its authority wants it renewed (RFC 9773, 4.2). */
export function momentIn(name: string, window: { readonly start: Date; readonly end: Date }): Date {
  const [from, until] = [window.start.getTime(), window.end.getTime()];
  return new Date(Math.round(from + (until - from) * fractionOf(`${name} ${from}`)));
}

/** The latest moment at which a certificate is renewed, whatever its authority wishes: at nine tenths of its life. */
export function latestRenewal({
  notBefore,
  notAfter,
}: {
  readonly notBefore: Date;
  readonly notAfter: Date;
}): Date {
  return new Date(Math.round(notBefore.getTime() * 0.1 + notAfter.getTime() * 0.9));
}

/** When the authority is asked again when it wants a certificate renewed: as it says, within an hour and a day. */
export function nextQuestion(at: Date, retryAfterMs: number = 6 * hourMs): Date {
  return new Date(at.getTime() + Math.min(Math.max(retryAfterMs, hourMs), dayMs));
}

/** When a name is tried again after `failures` failures in a row: never before the authority wants it. */
export function nextTry(name: string, failures: number, at: Date, retryAfterMs = 0): Date {
  const pause = pausesMs[Math.min(failures, pausesMs.length) - 1] ?? minuteMs;
  const jitter = 1 + fractionOf(`${name} ${at.getTime()}`) / 4;
  return new Date(at.getTime() + Math.max(Math.round(pause * jitter), retryAfterMs));
}

/** Until when an authority is left alone that failed to answer `failures` times in a row. */
export function awayUntil(failures: number, at: Date, retryAfterMs = 0): Date {
  const pause = awayMs[Math.min(failures, awayMs.length) - 1] ?? minuteMs;
  return new Date(at.getTime() + Math.max(pause, retryAfterMs));
}

/** A number from 0 to 1 that is the same for the same text, and as good as random over many. */
function fractionOf(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;
}
