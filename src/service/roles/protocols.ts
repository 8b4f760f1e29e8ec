import type { IncomingMessage, ServerResponse } from "node:http";
import { createRegistry, type DescMethod, getOption } from "@bufbuild/protobuf";
import { Health } from "../../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { access } from "../../../gen/signpost/options/v1/access_pb.js";
import { request_bytes_max, success_status } from "../../../gen/signpost/options/v1/handling_pb.js";
import type { ReadOrigin } from "../../lib/client-address.ts";
import { createAddressCount } from "../../lib/limits/address-count.ts";
import type { BodyBudget } from "../../lib/limits/body-budget.ts";
import { bodyBytesMax, openBodyBytesMax } from "../../lib/limits/body-bytes.ts";
import { restHandler } from "../../rest/handler.ts";
import { createRestRouter } from "../../rest/router.ts";
import type { AnswerHeaders, Invoke } from "../../rpc/call.ts";
import type { RegisteredService } from "../../rpc/handlers.ts";
import { streamsOf } from "../../rpc/part-streams.ts";
import { type GrpcStreams, grpcStreams } from "../../rpc/protocols/grpc.ts";
import { connectionOf, type Received } from "../../server/connection.ts";
import { whenLoaded } from "../../server/when-loaded.ts";

export interface ProtocolsOptions {
  readonly services: readonly RegisteredService[];
  readonly invoke: Invoke;
  /** The rate-limit headers for a caller at an address who is refused before the method is known. */
  readonly limitsOf: (address: string) => AnswerHeaders;
  readonly readOrigin: ReadOrigin;
  /** Limits the memory of all request bodies, over all protocols. */
  readonly bodies: BodyBudget;
  readonly newRequestId: () => string;
  /** Told of each bug of ours; the client gets INTERNAL under this request id. */
  readonly onFault: (error: unknown, requestId: string) => void;
  /** Whether the service can answer calls now; never rejects. */
  readonly ready: () => Promise<boolean>;
  readonly reflection: boolean;
  /** Waits until an address without a token may ask once more; rejects with the signal's reason. */
  readonly pace: (address: string, signal: AbortSignal) => Promise<void>;
  /** Ends endless streams at shutdown. */
  readonly shutdownSignal: AbortSignal;
}

/**
 * How many streams callers without a token may hold: watches of the service's health, and questions for descriptors.
 */
const streamLimits = { total: 500, perAddress: 50 };

type HttpHandler = (req: IncomingMessage, res: ServerResponse) => void;

/** The handlers of all protocols, over the same services. */
export interface Protocols {
  readonly rest: HttpHandler;
  /** Connect, gRPC-Web, and the gRPC calls that `onStream` leaves. */
  readonly rpc: HttpHandler;
  readonly onStream: GrpcStreams;
  /** Full names of the services that `rpc` and `onStream` answer. */
  readonly serviceNames: readonly string[];
}

/** Serves every registered service over every protocol. */
export function openProtocols(options: ProtocolsOptions): Protocols {
  const { invoke, newRequestId, onFault, bodies, readOrigin, ready, reflection, pace, shutdownSignal } =
    options;
  const services = options.services.map(({ service }) => service);
  const streams = streamsOf(services);
  const discovery = reflection ? [Health, ServerReflection, ServerReflectionAlpha] : [Health];
  const clientAddress = (received: Received) => readOrigin(connectionOf(received)).address;
  const bytesMaxOf = remembered(
    (method) => getOption(method, request_bytes_max) || (isOpen(method) ? openBodyBytesMax : bodyBytesMax),
  );
  const common = { services, invoke, newRequestId, onFault, bodies, bytesMaxOf };
  return {
    rest: restHandler({
      ...common,
      router: createRestRouter(services),
      registry: createRegistry(...services.map(({ file }) => file)),
      bodyBytesMaxOf: bytesMaxOf,
      partsOf: (method) => {
        const stream = streams.find(({ unary }) => unary === method);
        return stream && { part: stream.method.output, answerField: stream.answerField };
      },
      successStatusOf: (method) => getOption(method, success_status) || undefined,
      isCrossOrigin: remembered(isCrossOrigin),
      clientAddress,
      limitsOf: options.limitsOf,
    }),
    rpc: whenLoaded(async () => {
      const [{ connectHandler }, { routeHealth }, { routeReflection }] = await Promise.all([
        import("../../rpc/protocols/connect.ts"),
        import("../../rpc/protocols/health.ts"),
        import("../../rpc/protocols/reflection.ts"),
      ]);
      return connectHandler({
        ...common,
        clientAddress,
        shutdownSignal,
        otherRoutes: (router) => {
          const streams = createAddressCount(streamLimits);
          routeHealth(router, { services: services.map(({ typeName }) => typeName), ready, streams });
          if (reflection) routeReflection(router, { services: [...services, ...discovery], streams, pace });
        },
      });
    }),
    onStream: grpcStreams({
      ...common,
      otherServices: discovery,
      clientAddress: (stream, headers) => clientAddress({ socket: stream.session?.socket ?? {}, headers }),
    }),
    serviceNames: [...services, ...discovery].map(({ typeName }) => typeName),
  };
}

function isOpen(method: DescMethod): boolean {
  return getOption(method, access).kind.case === "open";
}

/**
 * Whether pages of other origins may call a method: those that publishable tokens or callers without a token may call.
 */
function isCrossOrigin(method: DescMethod): boolean {
  return isOpen(method) || getOption(method, access).publishable;
}

/** Calls `say` once per method: an option is parsed anew on every read, which takes 10 µs. */
function remembered<Said extends number | boolean>(
  say: (method: DescMethod) => Said,
): (method: DescMethod) => Said {
  const known = new Map<DescMethod, Said>();
  return (method) => {
    const said = known.get(method) ?? say(method);
    known.set(method, said);
    return said;
  };
}
