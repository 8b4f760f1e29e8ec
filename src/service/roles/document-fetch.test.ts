import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { receiverTls, startReceiver } from "../../../test/support/receiver.ts";
import { createDocumentFetch } from "./document-fetch.ts";

const bytesMax = 64 * 1024;
const receiver = await startReceiver({ tls: receiverTls });
const resolve = async () => [{ address: "127.0.0.1", family: 4 as const }];
const address = `https://receiver.test:${receiver.port}/client.json`;
const local = { allowedNetworks: ["127.0.0.1/32"], resolve };

const trusted = getCACertificates("default");
beforeAll(() => setDefaultCACertificates([...trusted, receiverTls.cert]));
afterAll(() => setDefaultCACertificates(trusted));

test("a document of at most 64 KB is read whole, and a longer one not at all", async () => {
  for (const length of [2, 2_000, bytesMax, bytesMax + 1, 4 * bytesMax]) {
    receiver.answer = (_request, response) => response.end("x".repeat(length));
    const text = await createDocumentFetch(local)(address, bytesMax);
    expect(text?.length, `${length} bytes`).toBe(length > bytesMax ? undefined : length);
  }
});

test("redirects, errors, private addresses and http give no document", async () => {
  receiver.answer = (_request, response) => response.writeHead(302, { location: address }).end("{}");
  expect(await createDocumentFetch(local)(address, bytesMax)).toBeUndefined();
  receiver.answer = (_request, response) => response.writeHead(404).end("{}");
  expect(await createDocumentFetch(local)(address, bytesMax)).toBeUndefined();
  receiver.answer = (_request, response) => response.end("{}");
  const before = receiver.requests.length;
  expect(await createDocumentFetch({ resolve })(address, bytesMax)).toBeUndefined();
  expect(await createDocumentFetch(local)(address.replace("https", "http"), bytesMax)).toBeUndefined();
  expect(receiver.requests.length).toBe(before);
  expect(await createDocumentFetch(local)(address, bytesMax)).toBe("{}");
});
