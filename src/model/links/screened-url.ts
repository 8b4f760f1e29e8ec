import type { Fault } from "../../lib/errors.ts";
import { asObject, objectsOf } from "../json-fields.ts";
import { destinationFault, hostAndParents, hostOf, isShortlinkOf } from "./destination.ts";

/** An address that visitors may be sent to, and the field it came in. */
export interface ScreenedUrl {
  readonly field: string;
  readonly url: string;
}

/**
 * The addresses at paths such as `destination` and `links[].url`. `place` is the part of the request's path that stands
 * before them.
 */
export function urlsAt(paths: readonly string[], fields: object, place = ""): ScreenedUrl[] {
  return paths.flatMap((path) => {
    const [name = "", rest] = path.split("[].");
    const value = asObject(fields)?.[name];
    if (rest !== undefined)
      return objectsOf(value).flatMap((element, index) =>
        urlsAt([rest], element, `${place}${name}[${index}].`),
      );
    return typeof value === "string" ? [{ field: place + name, url: value }] : [];
  });
}

/** What is wrong with addresses, without the block list. Empty addresses are skipped. */
export function destinationFaults(urls: readonly ScreenedUrl[], ownOrigins: readonly string[]): Fault[] {
  return urls.flatMap(({ field, url }) => {
    if (url === "") return [];
    const description =
      destinationFault(url) ??
      (isShortlinkOf(ownOrigins, url) ? "must not be a short link of this service" : undefined);
    return description === undefined ? [] : [{ field, description, reason: "INVALID_DESTINATION" }];
  });
}

/** The hosts that would forbid one of the addresses if they stood on the block list. */
export function hostsToScreen(urls: readonly ScreenedUrl[]): string[] {
  return [...new Set(urls.flatMap(({ url }) => parentsOf(url)))];
}

/** What is wrong with addresses under blocked hosts. */
export function blockedFaults(urls: readonly ScreenedUrl[], blockedHosts: ReadonlySet<string>): Fault[] {
  if (blockedHosts.size === 0) return [];
  return urls.flatMap(({ field, url }) => {
    const host = parentsOf(url).find((parent) => blockedHosts.has(parent));
    if (host === undefined) return [];
    return [
      { field, description: `${host} is on the block list: choose another address`, reason: "MALICIOUS_URL" },
    ];
  });
}

function parentsOf(url: string): string[] {
  const host = hostOf(url);
  return host === undefined ? [] : hostAndParents(host);
}
