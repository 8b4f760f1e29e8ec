import http2 from "node:http2";
import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "../../gen/google/rpc/status_pb.js";
import { codeNumbers } from "../../src/lib/errors.ts";
import type { Headers } from "./row.ts";

export interface GrpcAnswer {
  readonly httpStatus: number;
  /** The name of the gRPC code; undefined when the answer has none. */
  readonly code: string | undefined;
  readonly message: string;
  readonly reason: string | undefined;
  readonly fields: readonly string[];
  readonly requestId: string | undefined;
}

export interface GrpcConnection {
  open(): http2.ClientHttp2Session;
  close(): void;
}

/** Connects to a port, and again when the server has closed the connection, which was idle for long. */
export function grpcConnection(port: number): GrpcConnection {
  let session: http2.ClientHttp2Session | undefined;
  return {
    open() {
      if (session === undefined || session.closed || session.destroyed)
        session = http2.connect(`http://127.0.0.1:${port}`).on("error", () => {});
      return session;
    },
    close: () => session?.destroy(),
  };
}

/** Sends bytes as the body of a gRPC call. */
export function callGrpc(
  session: http2.ClientHttp2Session,
  path: string,
  headers: Headers,
  body: Uint8Array,
): Promise<GrpcAnswer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": path, ...Object.fromEntries(headers) });
    let head: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
    let trailers: http2.IncomingHttpHeaders = {};
    stream.on("response", (received) => {
      head = received;
    });
    stream.on("trailers", (received) => {
      trailers = received;
    });
    // A server that refuses early resets the stream after its answer.
    stream.on("error", (error) => (head[":status"] === undefined ? reject(error) : undefined));
    stream.on("close", () => resolve(answerOf(head, trailers)));
    stream.resume();
    stream.end(body);
  });
}

function answerOf(
  head: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader,
  trailers: http2.IncomingHttpHeaders,
): GrpcAnswer {
  const all = { ...head, ...trailers };
  const status = all["grpc-status"];
  const details = all["grpc-status-details-bin"];
  const codes = Object.entries(codeNumbers);
  return {
    httpStatus: head[":status"] ?? 0,
    code: status === "0" ? "OK" : codes.find(([, number]) => String(number) === status)?.[0],
    message: decodeURIComponent(String(all["grpc-message"] ?? "")),
    ...readStatus(Buffer.from(typeof details === "string" ? details : "", "base64")),
    requestId: typeof head["x-request-id"] === "string" ? head["x-request-id"] : undefined,
  };
}

/** Reads `grpc-status-details-bin`, a `google.rpc.Status`. */
export function readStatus(bytes: Uint8Array): { reason: string | undefined; fields: string[] } {
  const { details } = fromBinary(StatusSchema, bytes);
  const info = details.map((any) => anyUnpack(any, ErrorInfoSchema)).find((each) => each !== undefined);
  const bad = details.map((any) => anyUnpack(any, BadRequestSchema)).find((each) => each !== undefined);
  return { reason: info?.reason, fields: (bad?.fieldViolations ?? []).map(({ field }) => field) };
}

/** Reads the JSON body of a Connect error; its details are messages in base64. */
export function readConnectError(body: Buffer): {
  code: string;
  reason: string | undefined;
  fields: string[];
} {
  const error: { code: string; details?: { type: string; value: string }[] } = JSON.parse(body.toString());
  const bytesOf = (type: string) => {
    const detail = error.details?.find((each) => each.type === `google.rpc.${type}`);
    return detail === undefined ? undefined : Buffer.from(detail.value, "base64");
  };
  const [info, bad] = [bytesOf("ErrorInfo"), bytesOf("BadRequest")];
  return {
    code: error.code,
    reason: info && fromBinary(ErrorInfoSchema, info).reason,
    fields: bad ? fromBinary(BadRequestSchema, bad).fieldViolations.map(({ field }) => field) : [],
  };
}
