/*
 * The fields of a record's line, a JSON array, in their order. Only this file knows the order: writers and readers use
 * the names. Records outlive upgrades, so another order needs another version.
 */

/** What all visits of a plan share, so that it is written once. */
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

/** What few visits have. The field is 0 in all others. */
export const ofFew = inOrder(["saved", "waiting"]);

/** Where the fields of each visit begin, where those of few visits begin, and how many fields a line has. */
export const visitStart = Object.keys(ofPlan).length;
export const fewStart = visitStart + Object.keys(ofVisit).length;
export const fieldCount = fewStart + Object.keys(ofFew).length;

/** The position of each name in its list. */
function inOrder<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  // Every name has its entry.
  return Object.fromEntries(names.map((name, place) => [name, place])) as Record<Name, number>;
}
