import { createSocket } from "node:dgram";
import { once } from "node:events";
import net from "node:net";
import { afterAll } from "vitest";

/** Passes questions that come over TCP, as Pebble asks them, to a name server that listens on UDP. */
export async function dnsOverTcp(server: string): Promise<string> {
  const [host = "", port = ""] = server.split(":");
  const listener = net.createServer((socket) => {
    let seen = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      seen = Buffer.concat([seen, chunk]);
      while (seen.length >= 2 && seen.length >= 2 + seen.readUInt16BE(0)) {
        const end = 2 + seen.readUInt16BE(0);
        const udp = createSocket("udp4");
        udp.once("message", (answer) => {
          const size = Buffer.alloc(2);
          size.writeUInt16BE(answer.length);
          socket.write(Buffer.concat([size, answer]));
          udp.close();
        });
        udp.send(seen.subarray(2, end), Number(port), host);
        seen = seen.subarray(end);
      }
    });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  afterAll(() => listener.close());
  const address = listener.address();
  return `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}
