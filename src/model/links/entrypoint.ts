/** Where the short links of a host stand; `shortUrl` is for links without a domain of their own: no host, or an empty one. */
export function linkOrigin(host: string | null, shortUrl: string): string {
  return host === null || host === "" ? shortUrl : `https://${host}`;
}

/** Address of a short link, without query. */
export function entrypointOf(
  { host, shortlink }: { readonly host: string | null; readonly shortlink: string },
  shortUrl: string,
): string {
  return `${linkOrigin(host, shortUrl)}/${shortlink}`;
}
