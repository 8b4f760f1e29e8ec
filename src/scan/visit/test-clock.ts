import { parseTestClock } from "../../model/test-clock.ts";
import type { Plan } from "../../model/workflow/plan.ts";
import type { Visit } from "../../workflow/visit.ts";

/*
 * A visit of a sandbox's link may name the time that rules see. It stands in the query of the visit's first request, which
 * travels with the visit to all of its pages. The links of live workspaces have no test clock: there it is an ordinary
 * parameter.
 */

/** The query parameter of the test clock. */
export const testClockParameter = "testClock";

/** The text of a query's test clock, decoded. Undefined when the query has none. The last of several wins. */
function clockText(query: string): string | undefined {
  if (!query.includes(testClockParameter)) return undefined;
  const text = new URLSearchParams(query).getAll(testClockParameter).at(-1);
  // A query delivers the plus of an offset as a space.
  return text?.replaceAll(" ", "+");
}

/** Whether a visit of a sandbox's link names a time. */
export function hasTestClock({ environment }: Plan, query: string): boolean {
  return environment === "test" && clockText(query) !== undefined;
}

/** The time that rules see: of the visit's test clock, or else the present. Undefined for a test clock that is no time. */
export function ruleTime({ environment }: Plan, query: string, now: Date): Date | undefined {
  const text = environment === "test" ? clockText(query) : undefined;
  return text === undefined ? now : parseTestClock(text);
}

/** The query without its test clock, which no destination gets to see. */
export function passedOn(plan: Plan, query: string): string {
  if (!hasTestClock(plan, query)) return query;
  const kept = query.split("&").filter((parameter) => clockText(parameter) === undefined);
  return kept.join("&");
}

/** The visit as rules see it. */
export function ruledVisit(plan: Plan, visit: Visit): Visit {
  return plan.environment === "test" ? { ...visit, query: passedOn(plan, visit.query) } : visit;
}
