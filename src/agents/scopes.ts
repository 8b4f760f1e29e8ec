import { scopeText } from "../model/scope.ts";

/** What an agent may do before its workspace is claimed (behaviour 8.1). */
export const preClaimScope = scopeText([
  "analytics:read",
  "links:read",
  "links:write",
  "qrcodes:read",
  "qrcodes:write",
  "visitors:read",
  "workflows:read",
  "workflows:write",
]);

const onlyAsked: ReadonlySet<string> = new Set(["members:write", "tokens:write", "billing:write"]);

/** What an agent that asks for nothing in particular may do once its workspace is claimed. */
export function defaultPostClaimScope(apiScopes: Iterable<string>): string {
  return scopeText([...apiScopes].filter((name) => !onlyAsked.has(name)));
}
