import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { afterAll } from "vitest";

/** A request that a receiver got. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Receiver {
  readonly port: number;
  readonly requests: ReceivedRequest[];
  /** How many connections were opened, and how many stand open. */
  readonly connections: { opened: number; open: number };
  /** Answers the next requests; 200 without a body before it is set. */
  answer: (request: ReceivedRequest, response: ServerResponse) => void;
}

/** A server that receives what the service sends, on a real socket. It speaks TLS with `receiverTls`. */
export async function startReceiver(
  options: { readonly host?: string; readonly port?: number; readonly tls?: typeof receiverTls } = {},
): Promise<Receiver> {
  const { host = "127.0.0.1", port = 0, tls } = options;
  const listener = (req: IncomingMessage, res: ServerResponse) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const { method = "", url: path = "", headers } = req;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      receiver.requests.push(request);
      receiver.answer(request, res);
    });
  };
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  const receiver = {
    port: 0,
    requests: [] as ReceivedRequest[],
    connections: { opened: 0, open: 0 },
    answer: (_request: ReceivedRequest, response: ServerResponse): void => void response.end(),
  };
  server.on("connection", (socket: Socket) => {
    receiver.connections.opened += 1;
    receiver.connections.open += 1;
    socket.on("close", () => {
      receiver.connections.open -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  receiver.port = (server.address() as AddressInfo).port;
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return receiver;
}

/** A certificate for `receiver.test` that signs itself, and its key. They belong to tests only. */
export const receiverTls = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg85N0136eIg9lEO5Z
ivamkGQJIwKf5DuzdVsx5UFamG6hRANCAAS5yUTSmNYa1MIVlxaB0kGZV0UyBdyj
0CTpj7DYXmOQ43Fi/vgM5tk/IYXB33lRJuppef5OSQPkFxa1sHSljGgj
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBaTCCARCgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1yZWNlaXZl
ci50ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAYMRYwFAYD
VQQDDA1yZWNlaXZlci50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEuclE
0pjWGtTCFZcWgdJBmVdFMgXco9Ak6Y+w2F5jkONxYv74DObZPyGFwd95USbqaXn+
TkkD5BcWtbB0pYxoI6NJMEcwGAYDVR0RBBEwD4INcmVjZWl2ZXIudGVzdDAMBgNV
HRMEBTADAQH/MB0GA1UdDgQWBBQXBOEt1d9nlPVVYtdeBDeO6GQU3DAKBggqhkjO
PQQDAgNHADBEAiAhDHmIdj4WcS4+jcYtSQWOnWSnR2+35I5MaKIWGqycXAIgO60i
JEAzGK9E0dywKjnBZhpy2/hwR45DZnqA8gIuO40=
-----END CERTIFICATE-----
`,
};
