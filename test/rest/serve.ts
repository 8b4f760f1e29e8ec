import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo, Server as NetServer } from "node:net";
import { create, createRegistry, type Message } from "@bufbuild/protobuf";
import { afterAll } from "vitest";
import { HttpBodySchema } from "../../gen/google/api/httpbody_pb.js";
import { SpecimenSchema } from "../../gen/signpost/testing/v1/specimen_pb.js";
import {
  EmptySchema,
  file_signpost_testing_v1_specimens_service,
  ListResponseSchema,
  UpdateResponseSchema,
} from "../../gen/signpost/testing/v1/specimens_service_pb.js";
import { CallError, fail } from "../../src/lib/errors.ts";
import { createBodyBudget } from "../../src/lib/limits/body-budget.ts";
import { type RestOptions, restHandler } from "../../src/rest/handler.ts";
import { createRestRouter } from "../../src/rest/router.ts";
import type { AnswerHeaders, Call, Invoke } from "../../src/rpc/call.ts";

/** Answers a decoded request, as a test's handler. */
export type Answer = (request: Message, rpc: string, call: Call) => Message | Promise<Message>;

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON; undefined when it is no JSON. */
  readonly json: unknown;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

/**
 * A pipeline reduced to the part that a protocol's adapter sees: it decodes, answers, and turns refusals into outcomes.
 */
export function invokeWith(answer: Answer, headers: AnswerHeaders = {}): Invoke {
  return async (method, read, call) => {
    try {
      return { ok: true, message: await answer(await read(async () => {}), method.name, call), headers };
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      return { ok: false, error, headers };
    }
  };
}

export function specimenOptions(answer: Answer, extra: Partial<RestOptions> = {}): RestOptions {
  const file = file_signpost_testing_v1_specimens_service;
  return {
    router: createRestRouter(file.services),
    invoke: invokeWith(answer),
    registry: createRegistry(file, ...file.dependencies),
    bodies: createBodyBudget({ total: 64 * 1024 * 1024, perAddress: 64 * 1024 * 1024 }),
    clientAddress: () => "192.0.2.1",
    newRequestId: () => "new-request-id",
    onFault: () => undefined,
    ...extra,
  };
}

/** Serves SpecimensService on a free port until the test file ends. */
export async function serveSpecimens(answer: Answer, extra: Partial<RestOptions> = {}) {
  const handler = restHandler(specimenOptions(answer, extra));
  const server = createServer(handler).on("checkContinue", handler);
  const port = await listen(server);
  return { port, ask: (path: string, ask?: Ask) => send(port, path, ask) };
}

/** Listens on a free port until the test file ends. */
export async function listen(server: NetServer): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.once("listening", resolve);
  server.listen(0, "127.0.0.1");
  await promise;
  afterAll(() => void server.close());
  // The address of a TCP server has a port.
  return (server.address() as AddressInfo).port;
}

function send(port: number, path: string, { method = "GET", headers = {}, body }: Ask = {}): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const req = httpRequest({ port, host: "127.0.0.1", path, method, headers: { ...type, ...headers } });
  // An empty header stands for a missing one.
  for (const [name, value] of Object.entries(headers)) if (value === "") req.removeHeader(name);
  req.on("error", reject);
  req.on("response", (res) => {
    const chunks: Buffer[] = [];
    res.on("data", (chunk: Buffer) => chunks.push(chunk));
    res.on("error", reject);
    res.on("end", () => {
      const bytes = Buffer.concat(chunks);
      resolve({
        status: res.statusCode ?? 0,
        headers: res.headers,
        bytes,
        text: bytes.toString(),
        json: parse(bytes.toString()),
      });
    });
  });
  req.end(body);
  return promise;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A refusal for tests of error bodies. */
export const refuseAll: Answer = () => {
  throw fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", "too many requests", { retryAfterSeconds: 3 });
};

/** Answers every RPC with its request. */
export const echo: Answer = (request, rpc) => {
  // The service's descriptor fixes the request type of each RPC.
  const shown = request as Message & { id: string; path: string; content: Message };
  switch (rpc) {
    case "Get":
      return create(SpecimenSchema, { id: shown.id });
    case "List":
      return create(ListResponseSchema, { query: request as never });
    case "Update":
      return create(UpdateResponseSchema, { request: request as never });
    case "Delete":
    case "Cancel":
      return create(EmptySchema);
    case "Download":
      return create(HttpBodySchema, { contentType: "text/plain", data: Buffer.from(shown.path) });
    default:
      return request;
  }
};

/** The error in a REST error body. */
export function errorOf(json: unknown) {
  // Tests compare every part that they use.
  return (json as { error: { details: unknown[] } & Record<string, unknown> }).error;
}
