import { type CallError, type Fault, fail, refuse } from "../../lib/errors.ts";
import { hostOf } from "../../model/links/destination.ts";
import { destinationFaults } from "../../model/links/screened-url.ts";

const field = "rootDestination";

/** What is wrong with a root destination, whichever domain it is for. */
export function rootFaults(rootDestination: string, shortUrl: string): Fault[] {
  return destinationFaults([{ field, url: rootDestination }], [shortUrl]);
}

/** Refuses a root destination that leads back to its domain: to the bare name, or to a short link that may lead there. */
export function checkNoCircle(rootDestination: string, name: string): void {
  refuse(destinationFaults([{ field, url: rootDestination }], [`https://${name}`]));
  if (hostOf(rootDestination) === name && new URL(rootDestination).pathname === "/")
    refuse([{ field, description: "must not lead back to the bare domain", reason: "INVALID_DESTINATION" }]);
}

export function domainTaken(name: string): CallError {
  return fail(
    "ALREADY_EXISTS",
    "DOMAIN_TAKEN",
    `name: domain ${name} is registered in this service: choose another`,
    {
      metadata: { name },
    },
  );
}

/** The refusal of a name that another workspace had a while ago, with the record that proves whose it is now. */
export function domainReserved(
  name: string,
  record: { readonly name: string; readonly token: string },
): CallError {
  return fail(
    "ALREADY_EXISTS",
    "DOMAIN_TAKEN",
    `name: another workspace had domain ${name} within the last 90 days. If it is yours now, set the TXT record ${record.name} to ${record.token}, then register it again`,
    { metadata: { name, txtName: record.name, txtValue: record.token } },
  );
}

export function domainInUse(name: string, fix: string): CallError {
  return fail("FAILED_PRECONDITION", "DOMAIN_IN_USE", `custom domain ${name} has links: ${fix}`, {
    metadata: { name },
  });
}

export function checkedTooSoon(name: string, waitMs: number): CallError {
  const retryAfterSeconds = Math.ceil(waitMs / 1_000);
  const message = `custom domain ${name} is checked once in 10 seconds: try again in ${retryAfterSeconds} s`;
  return fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", message, { retryAfterSeconds });
}
