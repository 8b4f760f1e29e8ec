/**
 * The rows of the corpus. Texts in guillemets, such as `«token»`, name values that `world.ts` makes before the rows are
 * sent; they may occur in paths, headers and bodies.
 */
export type Row = RestRow | PageRow | BytesRow | GrpcRow | ConnectRow;

export type Headers = readonly (readonly [name: string, value: string])[];

/** A request that is written as HTTP/1.1 by hand, so that no client corrects it. */
export interface HttpRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array;
}

/** A request under `/v1`, answered with the error body of the API. */
export interface RestRow {
  readonly kind: "rest";
  readonly name: string;
  readonly request: HttpRequest;
  readonly expect: RestRefusal;
}

export interface RestRefusal {
  readonly status: number;
  readonly codeType: string;
  /** The fields of `BadRequest`, in any order. */
  readonly fields?: readonly string[];
  /** Headers that the answer must have, with their values. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that a person could send; the answer is an HTML page. */
export interface PageRow {
  readonly kind: "page";
  readonly name: string;
  readonly request: HttpRequest;
  readonly expect: { readonly status: number; readonly headers?: Readonly<Record<string, string>> };
}

/** Malformed bytes: the server answers with a status, or ends the connection without an answer. */
export interface BytesRow {
  readonly kind: "bytes";
  readonly name: string;
  readonly bytes: string | Uint8Array;
  /** Whether the client ends its side after the bytes, so that the rest of the request never comes. */
  readonly half?: true;
  readonly expect: { readonly status: number } | "cut off";
}

/** A unary gRPC call with a handmade body. */
export interface GrpcRow {
  readonly kind: "grpc";
  readonly name: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly expect: RpcRefusal;
}

/** A unary Connect call with a handmade body. */
export interface ConnectRow {
  readonly kind: "connect";
  readonly name: string;
  readonly request: HttpRequest;
  readonly expect: RpcRefusal & { readonly status: number };
}

export interface RpcRefusal {
  /** The name of the gRPC code. */
  readonly code: string;
  readonly reason: string;
  readonly fields?: readonly string[];
}

export const bearer: Headers = [["authorization", "Bearer «token»"]];
export const json: Headers = [["content-type", "application/json"]];

/** A REST row with a valid token and the JSON content type where it has a body. */
export function rest(
  name: string,
  request: Partial<HttpRequest> & { readonly target: string },
  status: number,
  codeType: string,
  more: Pick<RestRefusal, "fields" | "headers"> = {},
): RestRow {
  const { method = "GET", body = "", headers = body === "" ? bearer : [...bearer, ...json] } = request;
  return {
    kind: "rest",
    name,
    request: { method, target: request.target, headers, body },
    expect: { status, codeType, ...more },
  };
}

/** A call that creates a link with this body. */
export function createLink(name: string, body: string | Uint8Array, fields?: readonly string[]): RestRow {
  const more = fields === undefined ? {} : { fields };
  return rest(name, { method: "POST", target: "/v1/links", body }, 400, "INVALID_ARGUMENT", more);
}
