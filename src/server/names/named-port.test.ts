import { once } from "node:events";
import tls from "node:tls";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import { createCertificateMaker } from "../../../test/support/certificate-maker.ts";
import { listen } from "../listen.ts";

const name = "links.customer.example";
const maker = await createCertificateMaker();
const context = tls.createSecureContext(await maker.sign([name]));
const listener = await listen({
  host: "127.0.0.1",
  port: 0,
  // As if news of the name came with every look-up: it is found each time, and never kept.
  tls: {
    peek: () => undefined,
    find: async (wanted) => (wanted === name ? context : undefined),
    findOwn: async () => undefined,
    findChallenge: async () => undefined,
  },
  handler: (_req, res) => res.end(),
  log: pino({ level: "silent" }),
});
afterAll(() => listener.close(0));

test("a name is served even when news of it comes between its look-up and the handshake", async () => {
  const socket = tls.connect({
    port: listener.port,
    host: "127.0.0.1",
    servername: name.toUpperCase(),
    ca: maker.root,
  });
  await once(socket, "secureConnect");
  expect(socket.getPeerX509Certificate()?.subjectAltName).toBe(`DNS:${name}`);
  socket.destroy();
});
