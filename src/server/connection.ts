import type { IncomingHttpHeaders } from "node:http";
import type { ConnectionFacts } from "../lib/client-address.ts";

/** A request of either HTTP version, or the socket of an HTTP/2 stream's session with the stream's headers. */
export interface Received {
  readonly socket: { readonly remoteAddress?: string | undefined; readonly encrypted?: boolean };
  readonly headers: IncomingHttpHeaders & { ":authority"?: string | undefined };
}

/** Reads where a request comes from and which host it asks for. */
export function connectionOf({ socket, headers }: Received): ConnectionFacts {
  return {
    peer: socket.remoteAddress,
    encrypted: socket.encrypted === true,
    host: headers[":authority"] ?? headers.host,
    forwardedFor: single(headers["x-forwarded-for"]),
    forwardedHost: single(headers["x-forwarded-host"]),
    forwardedProto: single(headers["x-forwarded-proto"]),
  };
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}
