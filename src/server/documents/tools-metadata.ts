import { withoutEndSlashes } from "../../lib/end-slashes.ts";
import { type DiscoveryDeps, resourceMetadata } from "../discovery.ts";
import type { HttpAnswer, HttpRequest } from "../http.ts";
import { documentsHandler } from "./documents.ts";

const wellKnown = "/.well-known/oauth-protected-resource";

/**
 * Where the metadata of the tools' address stands: the well-known name before its path, as RFC 9728 says, and after it, as
 * some clients ask.
 */
export function toolsMetadataPaths(mcpUrl: string): ReadonlySet<string> {
  const path = withoutEndSlashes(new URL(mcpUrl).pathname);
  return new Set([`${wellKnown}${path}`, `${path}${wellKnown}`]);
}

/** Serves the metadata of the protected resource that models call (RFC 9728). */
export function toolsMetadataHandler(
  mcpUrl: string,
  deps: Omit<DiscoveryDeps, "agents">,
): (req: HttpRequest, res: HttpAnswer) => Promise<void> {
  const document = resourceMetadata(mcpUrl, deps);
  return documentsHandler(
    new Map([wellKnown, ...toolsMetadataPaths(mcpUrl)].map((path) => [path, document])),
  );
}
