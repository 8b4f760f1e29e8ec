import type { JsonObject } from "@bufbuild/protobuf";

/** A way to call the service: `rpc` is a name such as `LinksService/Create`, the request and the answer are JSON. */
export interface Client {
  readonly name: string;
  call(rpc: string, request: JsonObject, token: string): Promise<Answer>;
  close(): void;
}

export type Answer = { readonly ok: JsonObject } | { readonly error: ClientError };

/** An error as far as every protocol can tell it. */
export interface ClientError {
  /** The gRPC code by name; undefined over REST, which has the HTTP status instead. */
  readonly code: string | undefined;
  /** The HTTP status; undefined over the protocols that have none of their own. */
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly message: string;
  readonly fields: readonly string[];
}
