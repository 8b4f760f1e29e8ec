import { withoutEndSlashes } from "../lib/end-slashes.ts";

/** What access tokens are for: the API, over REST and gRPC, or the API as tools of models. A token is for one of them. */
export type Resource = "API" | "MCP";

/** The addresses of the resources, as `resource` and `aud` name them (RFC 8707). */
export type ResourceAddresses = Readonly<Record<Resource, string>>;

/** The addresses of the API and of the tools, which stand on the API's host unless they have one of their own. */
export function resourcesAt(baseUrl: string, mcpUrl: string = `${baseUrl}/mcp`): ResourceAddresses {
  return { API: baseUrl, MCP: mcpUrl };
}

/** The resource at an address. Many programs add a slash to a bare host. */
export function resourceOf(address: string, addresses: ResourceAddresses): Resource | undefined {
  const wanted = withoutEndSlashes(address);
  if (wanted === addresses.API) return "API";
  return wanted === addresses.MCP ? "MCP" : undefined;
}
