import { fail } from "../../lib/errors.ts";
import { parseTestClock, testClockHeader, testClockRule } from "../../model/test-clock.ts";
import type { Call } from "../call.ts";
import type { Identity } from "./credentials/authenticate.ts";

/**
 * The clock that the rules of workflows see in a call: the test clock that a sandbox's token sends, or else the present.
 * Throws for a test clock that is no time. Callers of live workspaces have no test clock; theirs is not read.
 */
export function clockOf(
  { testClock }: Pick<Call, "testClock">,
  identity: Identity | undefined,
  now: () => Date,
): () => Date {
  if (testClock === undefined || identity?.caller.sandbox !== true) return now;
  const at = parseTestClock(testClock);
  if (at !== undefined) return () => at;
  throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", `${testClockHeader} ${testClockRule}`, {
    fields: [{ field: testClockHeader, description: testClockRule }],
  });
}
