const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The pauses after each failed attempt, in milliseconds. A message without another pause is exhausted. */
const pausesMs: readonly number[] = [
  5_000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** How far a pause may be from its length, as a share. Receivers that were away do not get everything at once. */
const jitter = 0.2;

/** A message with so many attempts is not sent again: each of them is kept, and their number has a column of two bytes. */
export const attemptsMax = 1_000;

/** The longest pause that a receiver can ask for, in milliseconds. */
const askedPauseMsMax = 24 * hourMs;

/** A subscriber with nothing but failures for so long is disabled, in milliseconds. */
export const failingMsMax = 5 * 24 * hourMs;

/** So many exhausted messages in a row disable their subscriber. */
export const exhaustedMax = 100;

/** How long messages and their attempts are kept, in milliseconds. */
export const messagesKeptMs = 30 * 24 * hourMs;

/**
 * The pause after a failed attempt, in milliseconds; undefined after the last one. `attempts` counts those of this
 * schedule, `random` is at least 0 and below 1.
 */
export function pauseAfter(
  attempts: number,
  { random, askedMs = 0 }: { readonly random: number; readonly askedMs?: number | undefined },
): number | undefined {
  const pauseMs = pausesMs[attempts - 1];
  if (pauseMs === undefined) return undefined;
  const ownMs = Math.round(pauseMs * (1 - jitter + 2 * jitter * random));
  // What is no number asks for nothing.
  return askedMs > ownMs ? Math.min(askedMs, Math.max(ownMs, askedPauseMsMax)) : ownMs;
}
