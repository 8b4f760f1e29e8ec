import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { type ListenOptions, listen, type PortListener } from "./listen.ts";

const log = pino({ level: "silent" });
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: Partial<ListenOptions> = {}): Promise<PortListener> {
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    log,
    handler: (req, res) => res.end(`${req.httpVersion} ${req.method} ${req.url}`),
    ...options,
  });
  cleanups.push(() => listener.close(0).catch(() => {}));
  return listener;
}

function dial(port: number): net.Socket {
  const socket = net.connect(port, "127.0.0.1").on("error", () => {});
  cleanups.push(() => socket.destroy());
  return socket;
}

function session(url: string, options?: http2.SecureClientSessionOptions): http2.ClientHttp2Session {
  const client = http2.connect(url, options).on("error", () => {});
  cleanups.push(() => client.destroy());
  return client;
}

async function ask(client: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders): Promise<string> {
  return text(client.request(headers).on("error", () => {}));
}

test("answers HTTP/1.1 and HTTP/2 on one port", async () => {
  const { port } = await start();
  const response = await fetch(`http://127.0.0.1:${port}/one`);
  expect(await response.text()).toBe("1.1 GET /one");
  expect(await ask(session(`http://127.0.0.1:${port}`), { ":path": "/two" })).toBe("2.0 GET /two");
});

test("recognises HTTP/2 when its first bytes come one by one", async () => {
  const { port } = await start();
  const socket = dial(port);
  for (const byte of "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") {
    socket.write(byte);
    await new Promise(setImmediate);
  }
  const [answer] = await once(socket, "data");
  const settingsFrame = 4;
  expect(answer[3]).toBe(settingsFrame);
});

test("recognises HTTP/1.1 when its first bytes come one by one, and begin like HTTP/2", async () => {
  const { port } = await start();
  const socket = dial(port);
  for (const byte of "PROPFIND /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") {
    socket.write(byte);
    await new Promise(setImmediate);
  }
  expect(await text(socket)).toContain("1.1 PROPFIND /p");
});

test("answers several requests that came in the first packet", async () => {
  const { port } = await start();
  const socket = dial(port);
  socket.write("GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  expect(await text(socket)).toMatch(/GET \/a[\s\S]*GET \/b/);
});

test("takes a large body over both versions", async () => {
  const { port } = await start({
    handler: (req, res) => {
      let length = 0;
      req.on("data", (chunk: Buffer) => {
        length += chunk.length;
      });
      req.on("end", () => res.end(String(length)));
    },
  });
  const body = Buffer.alloc(5_000_000, 7);
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body });
  expect(await response.text()).toBe("5000000");
  const request = session(`http://127.0.0.1:${port}`).request({ ":method": "POST" });
  request.end(body);
  expect(await text(request)).toBe("5000000");
});

test("gives a stream to onStream first, and to the handler when onStream declines", async () => {
  const { port } = await start({
    onStream: (stream, headers) => {
      if (headers["content-type"] !== "application/grpc") return false;
      stream.respond({ ":status": 200 });
      stream.end("fast");
      return true;
    },
  });
  const client = session(`http://127.0.0.1:${port}`);
  expect(await ask(client, { "content-type": "application/grpc" })).toBe("fast");
  expect(await ask(client, { "content-type": "text/plain" })).toBe("2.0 GET /");
});

test("keeps going when a handler throws", async () => {
  const { port } = await start({
    handler: () => {
      throw new Error("broken");
    },
  });
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(500);
  const client = session(`http://127.0.0.1:${port}`);
  const request = client.request({ ":path": "/" });
  const [headers] = await once(request, "response");
  expect(headers[":status"]).toBe(500);
});

test("refuses CONNECT and upgrades to other protocols", async () => {
  const { port } = await start();
  const client = session(`http://127.0.0.1:${port}`);
  const request = client.request({ ":method": "CONNECT", ":authority": "example.com:443" });
  const [headers] = await once(request, "response");
  expect(headers[":status"]).toBe(405);
  const socket = dial(port);
  socket.write("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n");
  expect(await text(socket)).not.toContain("200");
});

test("speaks both versions by ALPN with TLS, and then refuses cleartext", async () => {
  const { port } = await start({ tls: { cert, key } });
  const client = session(`https://localhost:${port}`, { ca: cert });
  expect(await ask(client, { ":path": "/two" })).toBe("2.0 GET /two");
  const request = https.get({ port, path: "/one", ca: cert, host: "localhost", agent: false });
  const [response] = await once(request, "response");
  expect(await text(response)).toBe("1.1 GET /one");
  const plain = dial(port);
  plain.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  expect(await text(plain)).toBe("");
});

/** A handler whose answers wait until `release` is called. */
function held() {
  const waiting: http.ServerResponse[] = [];
  const arrived: (() => void)[] = [];
  return {
    handler: (_req: http.IncomingMessage, res: http.ServerResponse) => {
      waiting.push(res);
      arrived.splice(0).forEach((settle) => {
        settle();
      });
    },
    arrival: () => new Promise<void>((settle) => arrived.push(settle)),
    release: () => {
      for (const res of waiting) res.end("done");
    },
  };
}

test("lets running requests end on shutdown, and announces the end of their connections", async () => {
  const { handler, arrival, release } = held();
  const listener = await start({ handler });
  const agent = new http.Agent({ keepAlive: true });
  cleanups.push(() => agent.destroy());
  const first = arrival();
  const request = http.get({ port: listener.port, agent });
  await first;
  const second = arrival();
  const client = session(`http://127.0.0.1:${listener.port}`);
  const goaway = once(client, "goaway");
  const answer = ask(client, { ":path": "/" });
  await second;
  const closed = listener.close(10_000);
  await goaway;
  await expect(once(dial(listener.port), "connect")).rejects.toThrow("ECONNREFUSED");
  release();
  const [response] = await once(request, "response");
  expect(response.headers.connection).toBe("close");
  expect(await text(response)).toBe("done");
  expect(await answer).toBe("done");
  await closed;
});

test("closes idle connections at once on shutdown", async () => {
  const listener = await start();
  const silent = dial(listener.port);
  await once(silent, "connect");
  const agent = new http.Agent({ keepAlive: true });
  cleanups.push(() => agent.destroy());
  const [response] = await once(http.get({ port: listener.port, agent }), "response");
  await text(response);
  const client = session(`http://127.0.0.1:${listener.port}`);
  await ask(client, { ":path": "/" });
  // The grace period is longer than the test's own time limit.
  await listener.close(600_000);
});

test("cuts running requests when the grace period is over", async () => {
  const { handler, arrival } = held();
  const listener = await start({ handler });
  const arrived = arrival();
  const request = http.get({ port: listener.port, agent: false });
  const failed = once(request, "response");
  await arrived;
  await listener.close(50);
  await expect(failed).rejects.toThrow("socket hang up");
});

// Made for this test, valid for a hundred years; no client trusts it.
const cert = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUUH9WEdXFc5A9u63iLVeYxNkXh70wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMDExMjcyM1oYDzIxMjYxMDI3
MTEyNzIzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARyreBD1VSP1EbNttWRxvmXCl20FmJKChhX6sw3CJse/+jbEIu1nW2t
O5qj7+az9HX9gNqoaDfP8R/RIU2+yMAko2kwZzAdBgNVHQ4EFgQUVInrXDoh5Jzs
mPINzhv5lf/fLJMwHwYDVR0jBBgwFoAUVInrXDoh5JzsmPINzhv5lf/fLJMwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIhALY1DGLBGYmtw4A8kA3Mv6g2wLFdRO1TE3/lv9yV6PxcAiAKxThaEBUc
HKsSUdRvO9jSh0x5nvV+Qxraw2g66sbjWg==
-----END CERTIFICATE-----
`;
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVKfyl+dGVi/aVFrE
g/B/rHQKciaP9gX/4e9ZuK+DCCWhRANCAARyreBD1VSP1EbNttWRxvmXCl20FmJK
ChhX6sw3CJse/+jbEIu1nW2tO5qj7+az9HX9gNqoaDfP8R/RIU2+yMAk
-----END PRIVATE KEY-----
`;
