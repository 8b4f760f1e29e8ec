import tls from "node:tls";
import { createCertificateMaker } from "../../support/certificate-maker.ts";
import { announce } from "./announce.ts";

// The upper bound of Node: TLS with one certificate, and nothing behind it.
const maker = await createCertificateMaker();
const { cert, key } = await maker.sign(["d0.customer.example"]);
// A chain as long as ours.
const chain = [cert, maker.root, maker.root].join("\n");
const server = tls.createServer({ cert: chain, key, ALPNProtocols: ["h2", "http/1.1"] }, (socket) => {
  socket.on("error", () => {}).resume();
});
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / 2 ** 20 });
});
announce(server);
