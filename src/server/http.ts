import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** What is read of a request that has no body, in HTTP/1.1 and HTTP/2 alike. */
export interface HttpRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** What is used of an answer, in HTTP/1.1 and HTTP/2 alike. */
export interface HttpAnswer {
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  end(body?: string | Uint8Array): unknown;
}
