import { hostLengthMax } from "../lib/client-address.ts";
import { hostsOf, normalHost } from "../lib/hosts.ts";
import { discoveryPaths } from "./discovery.ts";

/** Which part of the service answers. */
export type Destination = "rpc" | "rest" | "discovery" | "operation" | "file" | "scan" | "none";

export interface RouteAddresses {
  /** Public address of the API. */
  readonly baseUrl: URL;
  /** Public address of the service's own short links. */
  readonly shortUrl: URL;
  /** Full names of the services that are served, `signpost.v1.LinksService`. */
  readonly services: Iterable<string>;
}

/** Gives the part of the service for a host as the client wrote it, and a path without query. */
export type Route = (host: string | undefined, path: string) => Destination;

const healthService = "grpc.health.v1.Health";
const healthPath = `/${healthService}/`;

/**
 * Routes by host, then by path. Hosts that are not the API's belong to short links, custom domains among them; whether
 * such a host is known is the business of `scan`. The API's host serves short links only when it is the short host too.
 */
export function createRoute({ baseUrl, shortUrl, services }: RouteAddresses): Route {
  const apiHosts = hostsOf(baseUrl);
  const shortHosts = hostsOf(shortUrl);
  const serviceNames = new Set(services);
  const documents = new Set<string>(discoveryPaths);

  return (host, path) => {
    // Load balancers ask for these by address, so no host is needed; both words are reserved among short links.
    if (path === "/health/live" || path === "/health/ready") return "operation";
    if (path.startsWith(healthPath) && serviceNames.has(healthService)) return "rpc";
    if (host === undefined || host.length > hostLengthMax) return "none";
    const name = normalHost(host);
    const isApi = apiHosts.has(name);
    if (path.startsWith("/_p/files/")) return "file";
    if (isApi) {
      if (path.startsWith("/v1/")) return "rest";
      // Its methods may be wrong, which clients of RPC are told in their own words.
      if (serviceNames.has(path.slice(1, path.indexOf("/", 1)))) return "rpc";
      if (documents.has(path)) return "discovery";
    }
    return !isApi || shortHosts.has(name) ? "scan" : "none";
  };
}
