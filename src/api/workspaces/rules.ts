import { type CallError, type Fault, fail, invalidArgument, type Precondition } from "../../lib/errors.ts";
import { faqFault } from "../../model/faq.ts";
import { hostOf } from "../../model/links/destination.ts";
import { destinationFaults, type ScreenedUrl } from "../../model/links/screened-url.ts";
import type { Caller } from "../../rpc/handlers.ts";
import type { LockedWorkspace } from "./writes.ts";

/** What is wrong with a website, without the block list. Empty text is fine. */
export function websiteFaults(website: ScreenedUrl): Fault[] {
  const faults = destinationFaults([website], []);
  if (faults.length > 0 || website.url === "" || hostOf(website.url) !== undefined) return faults;
  return [invalidArgument(website.field, "must be a web address, such as https://example.com")];
}

export function faqFaults(faq: string): Fault[] {
  const description = faqFault(faq);
  return description === undefined ? [] : [invalidArgument("faq", description)];
}

/** Throws for members who are no administrators. Tokens have been checked by their scopes. */
export function checkAdministrator({ memberId, fullAccess }: Caller, what: string): void {
  if (memberId === undefined || fullAccess) return;
  throw fail(
    "PERMISSION_DENIED",
    "INSUFFICIENT_ROLE",
    `only administrators may ${what}; ask one of your workspace`,
  );
}

/** Throws WORKSPACE_NOT_READY with everything that a public workspace needs and this one lacks. */
export function checkReady({ id, name, slug, description }: LockedWorkspace): void {
  const missing: Precondition[] = Object.entries({ name, slug, description }).flatMap(([field, value]) =>
    value ? [] : [{ type: "REQUIRED", subject: field, description: `give the workspace a ${field}` }],
  );
  if (missing.length === 0) return;
  throw fail(
    "FAILED_PRECONDITION",
    "WORKSPACE_NOT_READY",
    `workspace ${id} cannot be public: ${missing.map(({ description: what }) => what).join("; ")}`,
    { preconditions: missing },
  );
}

export function noSuchWorkspace(id: string): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", `id: neither your workspace nor a sandbox of it is ${id}`);
}
