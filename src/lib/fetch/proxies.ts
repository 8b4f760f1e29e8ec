import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";

/** The operator's proxies for outgoing requests, as the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name them. */
export interface ProxySettings {
  /** The proxy for https addresses. */
  readonly https: URL | undefined;
  /** The proxy for http addresses. */
  readonly http: URL | undefined;
  /** Hosts that are asked without a proxy: `example.com` and all names below it, with a port or without, or `*`. */
  readonly except: readonly string[];
}

export const noProxies: ProxySettings = { https: undefined, http: undefined, except: [] };

/** The proxy for a request. Undefined when it goes there directly. */
export function proxyFor(
  settings: ProxySettings,
  { protocol, host, port }: { readonly protocol: string; readonly host: string; readonly port: number },
): URL | undefined {
  const proxy = protocol === "https:" ? settings.https : settings.http;
  if (proxy === undefined) return undefined;
  const isDirect = settings.except.some((entry) => {
    const [, name = "", at] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    const bare = name.replace(/^\*?\./, "");
    if (at !== undefined && Number(at) !== port) return false;
    return entry === "*" || host === bare || host.endsWith(`.${bare}`);
  });
  return isDirect ? undefined : proxy;
}

/**
 * Asks a proxy for a connection to an address. The proxy is told the address that was checked and never the name, so
 * that it cannot find another one.
 */
export function openTunnel(proxy: URL, target: string, timeoutMs: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const { username, password, protocol, hostname, port } = proxy;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const request = (protocol === "https:" ? https : http).request({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port || (protocol === "https:" ? 443 : 80),
    method: "CONNECT",
    path: target,
    agent: false,
    headers: {
      host: target,
      ...(login !== ":" && { "proxy-authorization": `Basic ${Buffer.from(login).toString("base64")}` }),
    },
  });
  const timer = setTimeout(() => request.destroy(tunnelError("did not answer in time")), timeoutMs);
  request.on("error", reject);
  request.on("close", () => clearTimeout(timer));
  request.on("connect", ({ statusCode }, socket: Socket) => {
    clearTimeout(timer);
    if (statusCode === 200) return resolve(socket);
    socket.destroy();
    reject(tunnelError(`answered ${statusCode}`));
  });
  request.end();
  return promise;
}

function tunnelError(what: string): Error {
  return Object.assign(new Error(`the proxy ${what}`), { code: "PROXY_FAILED" });
}
