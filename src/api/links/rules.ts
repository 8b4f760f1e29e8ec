import { type FieldViolation, fail, invalid, type Reason } from "../../lib/errors.ts";
import { destinationFault, hostAndParents, hostOf, isShortlinkOf } from "../../model/destination.ts";
import { classifyShortlink } from "../../model/shortlink.ts";

interface Fault extends FieldViolation {
  readonly reason: Reason;
}

/** An address that visitors may be sent to, and the field it came in. */
export interface ScreenedUrl {
  readonly field: string;
  readonly url: string;
}

/** What can be said against addresses without the block list; empty ones are not looked at. */
export function destinationFaults(urls: readonly ScreenedUrl[], ownOrigins: readonly string[]): Fault[] {
  return urls.flatMap(({ field, url }) => {
    if (url === "") return [];
    const description =
      destinationFault(url) ??
      (isShortlinkOf(ownOrigins, url) ? "must not be a short link of this service" : undefined);
    return description === undefined ? [] : [{ field, description, reason: "INVALID_DESTINATION" }];
  });
}

/** What can be said against a short link that a caller chose. */
export function shortlinkFaults(shortlink: string): Fault[] {
  const found = classifyShortlink(shortlink);
  const description =
    found === "invalid"
      ? "must be 1 to 64 letters, digits, hyphens and underscores, with letters or digits at both ends"
      : found === "reserved"
        ? "is reserved for the service: choose another"
        : undefined;
  return description === undefined ? [] : [{ field: "shortlink", description, reason: "INVALID_SHORTLINK" }];
}

/** Throws INVALID_ARGUMENT with every fault, under their reason when they share one. */
export function refuse(faults: readonly Fault[]): void {
  const [first] = faults;
  if (first === undefined) return;
  const shared = faults.every(({ reason }) => reason === first.reason);
  throw invalid(
    faults.map(({ field, description }) => ({ field, description })),
    shared ? first.reason : "INVALID_ARGUMENT",
  );
}

/** The hosts whose place on the block list would forbid one of the addresses. */
export function hostsToScreen(urls: readonly ScreenedUrl[]): string[] {
  return [...new Set(urls.flatMap(({ url }) => parentsOf(url)))];
}

/** Throws MALICIOUS_URL for the addresses that stand under a host of the block list. */
export function refuseBlocked(urls: readonly ScreenedUrl[], blockedHost: string | null): void {
  if (blockedHost === null) return;
  const fields = urls
    .filter(({ url }) => parentsOf(url).includes(blockedHost))
    .map(({ field }) => ({
      field,
      description: `${blockedHost} is on the block list: choose another address`,
    }));
  throw invalid(fields, "MALICIOUS_URL");
}

function parentsOf(url: string): string[] {
  const host = hostOf(url);
  return host === undefined ? [] : hostAndParents(host);
}

/** A tag as asked for: tags are the same when their keys are. */
export interface WantedTag {
  readonly name: string;
  readonly key: string;
}

/** Tags in the order asked for, without repetitions in any case. */
export function wantedTags(names: readonly string[]): WantedTag[] {
  const wanted = new Map<string, WantedTag>();
  for (const name of names) {
    const key = tagKey(name);
    if (!wanted.has(key)) wanted.set(key, { name, key });
  }
  return [...wanted.values()];
}

/** What tells tags apart: the name in lower case. */
export function tagKey(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

export function notFound(what: string, field: string, id: string): Error {
  return fail("NOT_FOUND", "NOT_FOUND", `${field}: there is no ${what} ${id} in this workspace`);
}

export function shortlinkTaken(shortlink: string): Error {
  return fail("ALREADY_EXISTS", "SHORTLINK_TAKEN", `shortlink ${shortlink} is in use or was within 90 days`, {
    metadata: { shortlink },
  });
}
