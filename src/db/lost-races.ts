import pg from "pg";

/** In each race one of the others succeeded, so more attempts than this mean a bug. */
const attemptsMax = 8;

/** Repeats the attempt while it loses races; the last attempt's error is thrown. Attempts count from 1. */
export async function untilUndisturbed<Outcome>(
  attempt: (number: number) => Promise<Outcome>,
  isRace: (error: unknown) => boolean,
): Promise<Outcome> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      if (!isRace(error) || number === attemptsMax) throw error;
    }
  }
}

/** Whether the server ended this transaction because two waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "40P01";
}

/** Whether a transaction has waited for a lock for as long as its `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "55P03";
}

/** Whether the error is a deadlock or a serialization failure: the transaction may succeed when repeated. */
export function isLostRace(error: unknown): boolean {
  return isDeadlock(error) || (error instanceof pg.DatabaseError && error.code === "40001");
}
