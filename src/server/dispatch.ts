import type { IncomingMessage } from "node:http";
import type { Handler } from "./listen.ts";
import type { Destination, Route } from "./route.ts";

export interface DispatchOptions {
  readonly route: Route;
  readonly handlers: Readonly<Record<Exclude<Destination, "none">, Handler>>;
  /** The host that the client asked for, after trusted proxies. */
  readonly hostOf: (req: IncomingMessage) => string | undefined;
}

/** One handler for the whole port: hands each request to the part of the service that answers it, 404 where there is none. */
export function dispatch({ route, handlers, hostOf }: DispatchOptions): Handler {
  return (req, res) => {
    const absolute = /^https?:\/\/([^/?#]*)/i.exec(req.url ?? "");
    // A client that takes this server for a proxy sends a whole URL, whose host then counts (RFC 9112, 3.2.2).
    if (absolute !== null) {
      req.url = req.url?.slice(absolute[0].length) || "/";
      if (absolute[1] !== undefined) req.headers.host = absolute[1];
    }
    const [path = ""] = req.url?.split("?", 1) ?? [];
    const destination = route(hostOf(req), path);
    if (destination === "none") {
      res.writeHead(404, {
        "content-type": "text/plain; charset=utf-8",
        "x-content-type-options": "nosniff",
      });
      res.end("Not found\n");
      return;
    }
    // The API looks at the headers before it lets the body come; the others take any body.
    if (
      destination !== "rest" &&
      destination !== "rpc" &&
      req.headers.expect?.toLowerCase() === "100-continue"
    )
      res.writeContinue();
    handlers[destination](req, res);
  };
}
