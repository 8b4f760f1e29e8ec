import type { JsonObject } from "@bufbuild/protobuf";

/** A way to call the service: `rpc` is a name such as `LinksService/Create`, the request and the answer are JSON. */
export interface Client {
  readonly name: string;
  call(rpc: string, request: JsonObject, token: string): Promise<Answer>;
  close(): void;
}

export type Answer = { readonly ok: JsonObject } | { readonly error: ClientError };

/** An error, in the terms that all protocols share. */
export interface ClientError {
  /** The name of the gRPC code; undefined over REST, which has the HTTP status instead. */
  readonly code: string | undefined;
  /** The HTTP status; undefined over protocols without one. */
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly message: string;
  readonly fields: readonly string[];
}
