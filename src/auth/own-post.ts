import type { Visit } from "./visit.ts";

/**
 * Whether a post comes from a page of this host. Browsers say so in `Sec-Fetch-Site`, or over http in `Origin`; a post
 * that has neither is refused.
 */
export function isOwnPost({ req, origin }: Visit): boolean {
  const site = req.headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  return req.headers.origin === `${origin.scheme}://${origin.host ?? ""}`;
}
