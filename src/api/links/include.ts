import { invalid } from "../../lib/errors.ts";
import type { LinkInclude } from "./queries.ts";

const includes: readonly string[] = [
  "customDomain",
  "qrcodeDesign",
  "tags",
  "pageTheme",
  "qrcodeSignedUrl",
] satisfies LinkInclude[];

/** The objects that a request wants embedded. Throws INVALID_ARGUMENT for unknown names. */
export function readLinkInclude(include: readonly string[]): ReadonlySet<LinkInclude> {
  const unknown = include.filter((name) => !includes.includes(name));
  if (unknown.length > 0)
    throw invalid([{ field: "include", description: `must only name ${includes.join(", ")}` }]);
  // All names were checked above.
  return new Set(include as LinkInclude[]);
}
