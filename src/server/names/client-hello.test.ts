import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readClientHello } from "./client-hello.ts";

/** The first message of a real client. */
async function helloOf(options: tls.ConnectionOptions): Promise<Buffer> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const client = tls.connect({ port, host: "127.0.0.1", ...options }).on("error", () => {});
  const [socket]: net.Socket[] = await once(server, "connection");
  const [hello] = socket === undefined ? [] : await once(socket, "data");
  client.destroy();
  socket?.destroy();
  server.close();
  return hello;
}

const hello = await helloOf({ servername: "Shop.Customer.example", ALPNProtocols: ["h2", "http/1.1"] });

test.each([
  [{ servername: "shop.customer.example", maxVersion: "TLSv1.2" }, "shop.customer.example", false],
  [{ servername: "xn--bcher-kva.example", minVersion: "TLSv1.3" }, "xn--bcher-kva.example", false],
  [{ servername: "" }, undefined, false],
  [{ servername: "a.example", ALPNProtocols: ["acme-tls/1"] }, "a.example", true],
  [{ servername: "a.example", ALPNProtocols: ["acme-tls/1", "h2"] }, "a.example", false],
] as const)("reads what a client with the options %j wants", async (options, name, isChallenge) => {
  const { ALPNProtocols, ...others } = { ALPNProtocols: undefined, ...options };
  const bytes = await helloOf({ ...others, ...(ALPNProtocols && { ALPNProtocols: [...ALPNProtocols] }) });
  expect(readClientHello(bytes)).toEqual({ name, isChallenge });
});

test("asks for more until the message is there, whatever its pieces are", () => {
  for (let length = 0; length < hello.length; length++)
    expect(readClientHello(hello.subarray(0, length))).toBe("more");
  expect(readClientHello(hello)).toEqual({ name: "shop.customer.example", isChallenge: false });
});

test("reads a message that comes in several records, and refuses one in very many", () => {
  const message = hello.subarray(5);
  const inRecords = (size: number) => {
    const records: Buffer[] = [];
    for (let at = 0; at < message.length; at += size) {
      const part = message.subarray(at, at + size);
      records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
    }
    return Buffer.concat(records);
  };
  expect(readClientHello(inRecords(Math.ceil(message.length / 3)))).toEqual(readClientHello(hello));
  expect(readClientHello(inRecords(1))).toBe("refused");
});

test.each([
  ["a request in cleartext", Buffer.from("GET / HTTP/1.1\r\n")],
  ["a record of another type", Buffer.from([23, 3, 3, 0, 1, 0])],
  ["an endless message", Buffer.from([22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff])],
  ["an endless record", Buffer.from([22, 3, 1, 0xff, 0xff])],
  ["an empty record", Buffer.from([22, 3, 1, 0, 0])],
  ["a message of a server", Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
  ["a message that ends early", Buffer.from([22, 3, 1, 0, 4, 1, 0, 0, 0])],
])("refuses %s", (_what, bytes) => {
  expect(readClientHello(bytes)).toBe("refused");
});

test.each([
  "Shop..ustomer.example",
  "Shop/Customer.example",
  "Shop Customer.example",
  ".hop.Customer.example",
])("refuses the name %j", (name) => {
  const forged = Buffer.from(hello);
  forged.write(name, forged.indexOf("Shop.Customer.example"), "latin1");
  expect(readClientHello(forged)).toBe("refused");
});

test("bytes that were changed anywhere give an answer, and never an error", () => {
  fc.assert(
    fc.property(fc.nat(hello.length - 1), fc.nat(255), fc.nat(hello.length), (at, byte, length) => {
      const changed = Buffer.from(hello);
      changed[at] = byte;
      const read = readClientHello(changed.subarray(0, length));
      expect(typeof read === "string" ? ["more", "refused"] : [read]).toContainEqual(read);
    }),
    { numRuns: 2_000, seed: 7 },
  );
});
