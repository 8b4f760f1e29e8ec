import { type CallError, fail } from "../../lib/errors.ts";
import { deadlineExceeded } from "./failure.ts";

/** The deadline of a call: the client's or the service's time is over, or the client has gone. */
export interface CallDeadline {
  /** Aborts with the CallError that answers the call. */
  readonly signal: AbortSignal;
  /** Waits for the client with the clock stopped; the clock then starts anew. */
  aside<T>(work: () => T | Promise<T>): Promise<T>;
  /** Settles with the work, or rejects as soon as the call is over. */
  race<T>(work: Promise<T>): Promise<T>;
  clear(): void;
}

/** The longest delay of a timer in milliseconds: Node counts in 32 bits. */
const timerMax = 2_147_483_647;

/** Starts the clock of a call. */
export function startDeadline(client: AbortSignal, timeoutMs: number): CallDeadline {
  const controller = new AbortController();
  let reject: ((error: CallError) => void) | undefined;
  const end = (error: CallError) => {
    controller.abort(error);
    reject?.(error);
  };
  const onGone = () => end(fail("CANCELLED", "CANCELLED", "the client has gone"));
  if (client.aborted) onGone();
  else client.addEventListener("abort", onGone, { once: true });
  const startTimer = () => setTimeout(() => end(deadlineExceeded()), Math.min(timeoutMs, timerMax));
  let timer = timeoutMs > 0 ? startTimer() : undefined;
  if (timer === undefined) end(deadlineExceeded());
  return {
    async aside(work) {
      clearTimeout(timer);
      const done = await work();
      if (!controller.signal.aborted) timer = startTimer();
      return done;
    },
    signal: controller.signal,
    race(work) {
      return new Promise((resolve, rejectRace) => {
        reject = rejectRace;
        work.then(resolve, rejectRace);
        if (controller.signal.aborted) rejectRace(controller.signal.reason);
      });
    },
    clear() {
      clearTimeout(timer);
      client.removeEventListener("abort", onGone);
    },
  };
}
