import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Fault, fail } from "../../lib/errors.ts";
import { classifyShortlink } from "../../model/links/shortlink.ts";
import { tagKey } from "../resources/tag.ts";

/** What is wrong with a short link that a caller chose. */
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

/** What is wrong with the time at which a link is to expire. Empty without a time. */
export function expiryFaults(expiresAt: Timestamp | undefined, now: Date): Fault[] {
  const time = readTime(expiresAt);
  return time === null || time > now
    ? []
    : [{ field: "expiresAt", description: "must be in the future", reason: "INVALID_ARGUMENT" }];
}

/** A time to the millisecond, as times are stored. */
export function readTime(time: Timestamp | undefined): Date | null {
  return time === undefined ? null : new Date(Math.floor(timestampMs(time)));
}

/** A tag that a request names. Two tags with the same key are the same tag. */
export interface WantedTag {
  readonly name: string;
  readonly key: string;
}

/** Tags in the order of the request. Names that differ only by case become one tag. */
export function wantedTags(names: readonly string[]): WantedTag[] {
  const wanted = new Map<string, WantedTag>();
  for (const name of names) {
    const key = tagKey(name);
    if (!wanted.has(key)) wanted.set(key, { name, key });
  }
  return [...wanted.values()];
}

export function notFound(what: string, field: string, id: string): Error {
  return fail("NOT_FOUND", "NOT_FOUND", `${field}: there is no ${what} ${id} in this workspace`);
}

export function shortlinkTaken(shortlink: string): Error {
  return fail(
    "ALREADY_EXISTS",
    "SHORTLINK_TAKEN",
    `shortlink ${shortlink} is in use, or was in use within the last 90 days: choose another`,
    {
      metadata: { shortlink },
    },
  );
}
