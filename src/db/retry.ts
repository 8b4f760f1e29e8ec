import pg from "pg";

/** Each time around somebody else got further, so more than a few mean a bug. */
const attemptsMax = 8;

/** Does it again as long as others come in between; the last time, what it throws is thrown. Attempts count from 1. */
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

/** Two transactions waited for each other, and the server ended this one. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "40P01";
}

/** A deadlock, or a serialization failure of a server that is set to it: the transaction may go through another time. */
export function isLostRace(error: unknown): boolean {
  return isDeadlock(error) || (error instanceof pg.DatabaseError && error.code === "40001");
}
