import { create, type DescService } from "@bufbuild/protobuf";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { EchoResponseSchema, EchoService } from "../../gen/signpost/testing/v1/echo_pb.js";
import { type BodyLimits, createBodyBudget } from "../../src/lib/limits/body-budget.ts";
import type { Call, Invoke, Outcome } from "../../src/rpc/call.ts";
import { type ConnectOptions, connectHandler } from "../../src/rpc/protocols/connect.ts";
import { grpcStreams } from "../../src/rpc/protocols/grpc.ts";
import { listen } from "../../src/server/listen.ts";

/** An answer of EchoService with the text, and the given headers. */
export function echoed(text: string, headers: Record<string, string> = {}): Outcome {
  return { ok: true, message: create(EchoResponseSchema, { text }), headers };
}

/** A pipeline that answers EchoService with the request's text, and records the calls whose message it read. */
export function echoing(): { invoke: Invoke; calls: Call[] } {
  const calls: Call[] = [];
  const invoke: Invoke = async (_method, read, call) => {
    try {
      const request = await read(async () => {});
      calls.push(call);
      return echoed(String(Reflect.get(request, "text")));
    } catch (error) {
      return { ok: false, error: error as never, headers: {} };
    }
  };
  return { invoke, calls };
}

/** Serves EchoService over every RPC protocol until the test ends; faults are collected in `faults`. */
export async function serveEcho(
  invoke: Invoke,
  options: Pick<ConnectOptions, "otherRoutes"> & {
    bytesMax?: number;
    otherServices?: readonly DescService[];
    room?: BodyLimits;
  } = {},
): Promise<{ port: number; faults: unknown[] }> {
  const faults: unknown[] = [];
  const shared = {
    services: [EchoService],
    invoke,
    bodies: createBodyBudget(options.room ?? { total: 64_000_000, perAddress: 64_000_000 }),
    clientAddress: () => "192.0.2.1",
    newRequestId: () => "made-here",
    bytesMaxOf: () => options.bytesMax ?? 4_000_000,
    onFault: (error: unknown) => faults.push(error),
  };
  const stopping = new AbortController();
  const handler = connectHandler({ ...shared, ...options, shutdownSignal: stopping.signal });
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    handler,
    log: pino({ level: "silent" }),
    onStream: grpcStreams({ ...shared, otherServices: options.otherServices ?? [] }),
  });
  onTestFinished(async () => {
    stopping.abort();
    await listener.close(0);
  });
  return { port: listener.port, faults };
}
