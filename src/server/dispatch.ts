import type { Origin } from "../lib/client-address.ts";
import { normalHost } from "../lib/hosts.ts";
import { expectsContinue } from "../lib/limits/request-body.ts";
import type { Received } from "./connection.ts";
import type { OnStream } from "./http2-sessions.ts";
import type { Handler } from "./listen.ts";
import type { Destination, Route } from "./route.ts";
import type { StrictTransport } from "./strict-transport.ts";

export interface DispatchOptions {
  readonly route: Route;
  readonly handlers: Readonly<Record<Exclude<Destination, "none">, Handler>>;
  /** Reads the host and scheme of a request, after trusted proxies. */
  readonly originOf: (received: Received) => Pick<Origin, "host" | "scheme">;
  readonly strict?: StrictTransport | undefined;
}

const asksForBody: ReadonlySet<Destination> = new Set(["rest", "rpc", "mcp"]);

/** One handler for the whole port: hands each request to the part of the service that answers it, or answers 404. */
export function dispatch({ route, handlers, originOf, strict }: DispatchOptions): Handler {
  return (req, res) => {
    const absolute = /^https?:\/\/([^/?#]*)/i.exec(req.url ?? "");
    // A client that takes this server for a proxy sends a whole URL, whose host wins over the header (RFC 9112, 3.2.2).
    if (absolute !== null) {
      req.url = req.url?.slice(absolute[0].length) || "/";
      if (absolute[1] !== undefined) req.headers.host = absolute[1];
    }
    const { host, scheme } = originOf(req);
    // Only answers over TLS may carry the header (RFC 6797, 7.2).
    if (strict !== undefined && scheme === "https" && strict.hosts.has(normalHost(host ?? "")))
      res.setHeader("strict-transport-security", strict.header);
    const destination = route(host, pathOf(req.url));
    if (destination === "none") {
      res.writeHead(404, {
        "content-type": "text/plain; charset=utf-8",
        "x-content-type-options": "nosniff",
      });
      res.end("Not found\n");
      return;
    }
    // The API checks the headers before it asks for the body; the other parts take any body.
    if (!asksForBody.has(destination) && expectsContinue(req)) res.writeContinue();
    handlers[destination](req, res);
  };
}

/** Hands the HTTP/2 streams that route to RPC to `onStream`; all other streams become requests. */
export function dispatchStreams(
  { route, originOf }: Pick<DispatchOptions, "route" | "originOf">,
  onStream: OnStream,
): OnStream {
  return (stream, headers) => {
    const { host } = originOf({ socket: stream.session?.socket ?? {}, headers });
    return route(host, pathOf(headers[":path"])) === "rpc" && onStream(stream, headers);
  };
}

function pathOf(url = ""): string {
  const mark = url.indexOf("?");
  return mark === -1 ? url : url.slice(0, mark);
}
