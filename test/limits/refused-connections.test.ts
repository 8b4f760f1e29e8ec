import http2 from "node:http2";
import { expect, test } from "vitest";
import { eventually, startService } from "../support/start-service.ts";

const connectionsMax = 4;

/**
 * Makes a call on a connection of its own, which the client destroys. Returns the HTTP status, or undefined without
 * one.
 */
function statusOf(port: number, type: string, body: Buffer): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const session = http2.connect(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  session.on("close", () => resolve(undefined));
  const stream = session.request({
    ":method": "POST",
    ":path": "/grpc.health.v1.Health/Check",
    "content-type": type,
  });
  stream.on("error", () => undefined);
  let status: number | undefined;
  stream.on("response", (head) => {
    status = head[":status"];
  });
  stream.on("close", () => {
    session.destroy();
    resolve(status);
  });
  stream.resume();
  stream.end(body);
  return promise;
}

const json = "application/json";

test.each([
  ["Connect", json, 300_000],
  ["Connect", json, 1_000_000],
  ["gRPC", "application/grpc", 300_000],
  ["gRPC", "application/grpc", 1_000_000],
])(
  "a call of health whose body is refused gives its connection back: %s, %s, %i bytes",
  async (_name, type, size) => {
    const service = await startService({ env: { MAX_CONNECTIONS: String(connectionsMax) } });
    const refused = () => statusOf(service.port, type, Buffer.alloc(size));
    // The connection of the previous call may still be closing.
    for (let call = 0; call < 2 * connectionsMax; call++)
      await eventually(refused, (status) => status !== undefined, 3_000).catch(() => undefined);
    const plain = () => statusOf(service.port, json, Buffer.from("{}"));
    expect(await eventually(plain, (status) => status !== undefined)).toBe(200);
    await service.stop();
  },
);
