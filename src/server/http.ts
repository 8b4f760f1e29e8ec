import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** The parts of a request without a body that handlers read, in HTTP/1.1 and HTTP/2 alike. */
export interface HttpRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** The parts of an answer that handlers use, in HTTP/1.1 and HTTP/2 alike. */
export interface HttpAnswer {
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  end(body?: string | Uint8Array): unknown;
}
