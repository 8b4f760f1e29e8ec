import { heldScopes, scopeText } from "../model/scope.ts";

/** Those of the wanted scopes that a role has. Of a write scope that it lacks, the read scope is left. */
export function withinRole(wanted: Iterable<string>, ofRole: ReadonlySet<string>): string[] {
  const kept = [...wanted].flatMap((name) => (ofRole.has(name) ? [name] : readOf(name)));
  return [...new Set(kept)].filter((name) => ofRole.has(name));
}

/** Whether a text of scopes holds no more than another one. */
export function isWithin(wanted: string, granted: string): boolean {
  const held = new Set(heldScopes(granted));
  return wanted.split(" ").every((name) => held.has(name));
}

export function narrowed(scope: string, ofRole: ReadonlySet<string>): string {
  return scopeText(withinRole(scope.split(" "), ofRole));
}

function readOf(name: string): string[] {
  return heldScopes(name).slice(1);
}
