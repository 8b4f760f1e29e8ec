import http2 from "node:http2";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { connectionOf } from "./connection.ts";
import { listen, type PortListener } from "./listen.ts";

let listener: PortListener | undefined;
afterEach(() => listener?.close(0));

const expected = (host: string) => ({
  peer: "127.0.0.1",
  encrypted: false,
  host,
  forwardedFor: "192.0.2.1",
  forwardedHost: "go.example",
  forwardedProto: "https",
});
const forwarded = {
  "x-forwarded-for": "192.0.2.1",
  "x-forwarded-host": "go.example",
  "x-forwarded-proto": "https",
};

test("reads the same from a request and from a stream", async () => {
  listener = await listen({
    host: "127.0.0.1",
    port: 0,
    log: pino({ level: "silent" }),
    handler: (req, res) => res.end(JSON.stringify(connectionOf(req))),
    onStream: (stream, headers) => {
      const socket = stream.session?.socket;
      if (headers[":path"] !== "/stream" || socket === undefined) return false;
      stream.respond({ ":status": 200 });
      stream.end(JSON.stringify(connectionOf({ socket, headers })));
      return true;
    },
  });
  const address = `127.0.0.1:${listener.port}`;
  const response = await fetch(`http://${address}/`, { headers: forwarded });
  expect(await response.json()).toEqual(expected(address));
  const client = http2.connect(`http://${address}`);
  for (const path of ["/request", "/stream"]) {
    const request = client.request({ ":path": path, ":authority": "api.example", ...forwarded });
    expect(JSON.parse(await text(request))).toEqual(expected("api.example"));
  }
  client.destroy();
});
