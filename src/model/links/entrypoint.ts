/**
 * The origin of a host's short links. `host` is null or empty for links without a domain of their own, which stand
 * under `shortUrl`.
 */
export function linkOrigin(host: string | null, shortUrl: string): string {
  return host === null || host === "" ? shortUrl : `https://${host}`;
}

/** The address of a short link, without query. */
export function entrypointOf(
  { host, shortlink }: { readonly host: string | null; readonly shortlink: string },
  shortUrl: string,
): string {
  return `${linkOrigin(host, shortUrl)}/${shortlink}`;
}
