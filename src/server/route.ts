import { fontsPath } from "../../gen/fonts.ts";
import { hostLengthMax } from "../lib/client-address.ts";
import { withoutEndSlashes } from "../lib/end-slashes.ts";
import { hostsOf, normalHost } from "../lib/hosts.ts";
import { remembered } from "../lib/remembered.ts";
import { filesPath, publicFilesPath } from "../lib/storage/file-url.ts";
import { authMdPath, discoveryPaths } from "./discovery.ts";
import { toolsMetadataPaths } from "./documents/tools-metadata.ts";

/** The part of the service that answers. */
export type Destination =
  | "rpc"
  | "rest"
  | "discovery"
  | "mcp"
  | "mcp-metadata"
  | "auth"
  | "operation"
  | "file"
  | "font"
  | "scan"
  | "none";

export interface RouteAddresses {
  /** Public address of the API. */
  readonly baseUrl: URL;
  /** Public address of the service's own short links. */
  readonly shortUrl: URL;
  /** Public address of the sign-in pages: a host of its own, or a path below another host. */
  readonly authUrl: URL;
  /** Public address of the tools for models: a path on the API's host, or a host of its own. */
  readonly mcpUrl: URL;
  /** Full names of the served services, such as `signpost.v1.LinksService`. */
  readonly services: Iterable<string>;
}

/** Finds the part of the service for a host as the client wrote it, and a path without query. */
export type Route = (host: string | undefined, path: string) => Destination;

const healthService = "grpc.health.v1.Health";
const healthPath = `/${healthService}/`;

/** How many hosts are remembered. */
const rememberedMax = 1_000;

/**
 * Routes by host, then by path. Hosts other than the API's belong to short links and custom domains; `scan` decides
 * whether such a host is known. The API's host serves short links only when it is the short host too.
 */
export function createRoute({ baseUrl, shortUrl, authUrl, mcpUrl, services }: RouteAddresses): Route {
  const apiHosts = hostsOf(baseUrl);
  const shortHosts = hostsOf(shortUrl);
  const authHosts = hostsOf(authUrl);
  const authPath = withoutEndSlashes(authUrl.pathname);
  const authFolder = `${authPath}/`;
  const ownAuthMd = `${authPath}${authMdPath}`;
  // RFC 8414, 3.1: the metadata of an issuer with a path stands at the root of its host, with the path behind it.
  const authMetadata = `/.well-known/oauth-authorization-server${authPath}`;
  const mcpHosts = hostsOf(mcpUrl);
  const mcpPath = mcpUrl.pathname;
  const mcpMetadata = toolsMetadataPaths(mcpUrl.href);
  const serviceNames = new Set(services);
  const documents = new Set<string>(discoveryPaths);
  const kindOf = remembered(rememberedMax, (host) => {
    const name = normalHost(host);
    return {
      isApi: apiHosts.has(name),
      isShort: shortHosts.has(name),
      isAuth: authHosts.has(name),
      isMcp: mcpHosts.has(name),
    };
  });

  return (host, path) => {
    // Load balancers ask for these by IP address, so every host answers them; both words are reserved among short
    // links.
    if (path === "/health/live" || path === "/health/ready") return "operation";
    if (path.startsWith(healthPath) && serviceNames.has(healthService)) return "rpc";
    if (host === undefined || host.length > hostLengthMax) return "none";
    const { isApi, isShort, isAuth, isMcp } = kindOf(host);
    // On a custom domain only the pictures of pages are served, which anyone may see.
    if (path.startsWith(isApi || isShort ? filesPath : publicFilesPath)) return "file";
    if (path.startsWith(fontsPath)) return "font";
    if (isAuth && (path === authMdPath || path === ownAuthMd)) return "discovery";
    if (isAuth && (path === authPath || path.startsWith(authFolder) || path === authMetadata)) return "auth";
    if (isMcp) {
      if (path === mcpPath) return "mcp";
      if (mcpMetadata.has(path)) return "mcp-metadata";
      // On a host of its own the tools are the one resource.
      if (!isApi && path === "/.well-known/oauth-protected-resource") return "mcp-metadata";
    }
    if (isApi) {
      if (path.startsWith("/v1/")) return "rest";
      // The method may be unknown; the RPC handlers refuse it in the form that RPC clients read.
      if (serviceNames.has(path.slice(1, path.indexOf("/", 1)))) return "rpc";
      if (documents.has(path)) return "discovery";
    }
    return isShort || !(isApi || isAuth || isMcp) ? "scan" : "none";
  };
}
