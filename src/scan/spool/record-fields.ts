/*
 * The fields of a record's line, a JSON array, in their order: the only place that knows it. Who writes and who reads go by
 * names. Records outlive upgrades: another order is another version.
 */

/** What is the same for all visits of a plan, so that it is written once. */
export const ofPlan = inOrder(["version", "workspaceId", "linkId", "entrypoint", "entryStepId"]);

/** What each visit has. */
export const ofVisit = inOrder([
  "level",
  "action",
  "headers",
  "userAgent",
  "language",
  "address",
  "cookie",
  "cookieWasSent",
  "outcome",
  "destination",
  "conversionTracking",
  "stepsReached",
  "stepsTotal",
  "lastStepId",
  "lastStepAction",
]);

/** What few visits have: 0 in the others. */
export const ofFew = inOrder(["saved", "waiting"]);

/** Where the fields of each visit begin, those that few have, and where the line ends. */
export const visitStart = Object.keys(ofPlan).length;
export const fewStart = visitStart + Object.keys(ofVisit).length;
export const fieldCount = fewStart + Object.keys(ofFew).length;

/** The place of each name among its own. */
function inOrder<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  // Every name has its entry.
  return Object.fromEntries(names.map((name, place) => [name, place])) as Record<Name, number>;
}
