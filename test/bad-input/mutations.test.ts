import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { busyMs, busyMsMax } from "../support/metrics.ts";
import { type Service, startService } from "../support/start-service.ts";
import { callGrpc, type GrpcConnection, grpcConnection } from "./send-grpc.ts";
import { exchange } from "./send-http.ts";

let service: Service;
let connection: GrpcConnection;

beforeAll(async () => {
  service = await startService();
  // Resets the measurement: the modules that a start loads may block the event loop.
  await busyMs(service);
  connection = grpcConnection(service.port);
  return async () => {
    connection.close();
    await service.stop();
  };
});

const runs = { seed: 20_261_120, numRuns: 300 };

/**
 * A change to bytes: replace one byte, cut from one on, repeat one, or insert one. Places are in ten-thousandths of the
 * whole.
 */
const change = fc.record({
  kind: fc.constantFrom("replace", "cut", "repeat", "insert"),
  place: fc.integer({ min: 0, max: 9_999 }),
  byte: fc.integer({ min: 0, max: 255 }),
});
const changes = fc.array(change, { minLength: 1, maxLength: 4 });
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function changed(bytes: Buffer, list: readonly Change[]): Buffer {
  let result = bytes;
  for (const { kind, place, byte } of list) {
    const at = Math.floor((place * result.length) / 10_000);
    const [before, after] = [result.subarray(0, at), result.subarray(at)];
    const one = kind === "repeat" ? after.subarray(0, 1) : Uint8Array.of(byte);
    if (kind === "cut") result = before;
    else result = Buffer.concat([before, one, kind === "replace" ? after.subarray(1) : after]);
  }
  return result;
}

const body = JSON.stringify({
  destination: "https://example.com/menu?table=7",
  name: "Tageskarte ü",
  tags: ["summer", "sale"],
  metadata: { table: "7" },
  conversionTracking: true,
});

const requests: [name: string, bytes: (token: string) => string][] = [
  [
    "create a link",
    (token) =>
      `POST /v1/links HTTP/1.1\r\nHost: localhost:«port»\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nIdempotency-Key: a-key\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  ],
  [
    "list links",
    (token) =>
      "GET /v1/links?pageSize=5&include=tags,qrcodeSignedUrl&sortBy=LINK_SORT_FIELD_NAME&search=a%20b HTTP/1.1\r\n" +
      `Host: localhost:«port»\r\nAuthorization: Bearer ${token}\r\nX-Request-Id: request-1\r\n\r\n`,
  ],
  [
    "list events",
    (token) =>
      "GET /v1/events?startDate=2026-01-31T12:00:00Z&endDate=2027-01-31T12:00:00%2B01:00&include=device HTTP/1.1\r\n" +
      `Host: localhost:«port»\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  ],
  [
    "follow a link",
    () => "GET /no-such-link?qr HTTP/1.1\r\nHost: localhost:«port»\r\nUser-Agent: Mozilla/5.0\r\n\r\n",
  ],
];

/** Bytes that end the headers of a request cut there, fill a body cut later, and are no request themselves. */
const padding = Buffer.from("\r\n".repeat(500));

test.each(requests)(
  "no damage to the bytes of a call to %s is answered with a fault of ours",
  async (_, write) => {
    const text = write(service.credentials.accessToken).replace("«port»", String(service.port));
    const property = fc.asyncProperty(changes, async (list) => {
      const sent = Buffer.concat([changed(Buffer.from(text), list), padding]);
      // Even then a damaged length may make the server wait for more.
      const answer = await exchange(service.port, sent, 100);
      expect(answer?.status ?? 0, answer?.body.toString()).toBeLessThan(500);
    });
    await fc.assert(property, runs);
    expect(service.alive()).toBe(true);
  },
);

test("no damaged JSON body is answered with a fault of ours", async () => {
  const property = fc.asyncProperty(changes, async (list) => {
    const answer = await fetch(`${service.baseUrl}/v1/links`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${service.credentials.accessToken}`,
        "content-type": "application/json",
      },
      body: changed(Buffer.from(body), list),
    });
    expect([200, 400], await answer.text()).toContain(answer.status);
  });
  await fc.assert(property, runs);
});

test("no damaged gRPC message is answered with a fault of ours", async () => {
  const message = Buffer.from(
    "\n\x14https://example.com/\x12\x05Menu!8\x01J\x06summerJ\x04saleR\n\n\x05table\x12\x017",
    "latin1",
  );
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const headers = [
    ["content-type", "application/grpc"],
    ["authorization", `Bearer ${service.credentials.accessToken}`],
  ] as const;
  const good = await callGrpc(
    connection.open(),
    "/signpost.v1.LinksService/Create",
    headers,
    Buffer.concat([head, message]),
  );
  expect(good.code).toBe("OK");
  const property = fc.asyncProperty(changes, fc.boolean(), async (list, isFramed) => {
    const damaged = changed(isFramed ? message : Buffer.concat([head, message]), list);
    const length = Buffer.alloc(5);
    length.writeUInt32BE(damaged.length, 1);
    const sent = isFramed ? Buffer.concat([length, damaged]) : damaged;
    const answer = await callGrpc(connection.open(), "/signpost.v1.LinksService/Create", headers, sent);
    // gRPC requires INTERNAL for a frame that claims compression without a header.
    const isOurFault = answer.code === "INTERNAL" && answer.reason !== "INVALID_ARGUMENT";
    expect(isOurFault || answer.code === "UNKNOWN" || answer.code === undefined, JSON.stringify(answer)).toBe(
      false,
    );
  });
  await fc.assert(property, runs);
  expect(service.alive()).toBe(true);
});

test("after all damaged requests no error is logged", () => {
  expect(service.log().filter(({ level }) => level >= 50)).toEqual([]);
  expect(service.stderr()).toBe("");
});

test("no damaged request has blocked other calls for longer than 200 ms", async () => {
  expect(await busyMs(service)).toBeLessThan(busyMsMax);
});
