import { fail } from "../../lib/errors.ts";
import { parseTestClock, testClockHeader, testClockRule } from "../../model/test-clock.ts";
import type { Call } from "../call.ts";
import type { Identity } from "./credentials/authenticate.ts";

/**
 * The time that a sandbox's token sets for the rules of workflows in a call. Undefined for the present. Throws for a test
 * clock that is no time. Callers of live workspaces have no test clock; theirs is not read.
 */
export function testClockOf(
  { testClock }: Pick<Call, "testClock">,
  identity: Identity | undefined,
): Date | undefined {
  if (testClock === undefined || identity?.caller.sandbox !== true) return undefined;
  const at = parseTestClock(testClock);
  if (at !== undefined) return at;
  throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", `${testClockHeader} ${testClockRule}`, {
    fields: [{ field: testClockHeader, description: testClockRule }],
  });
}
