import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { LinksService } from "../../gen/signpost/v1/links_service_pb.js";
import { askBytes, type Way, waysOf } from "../support/ask-bytes.ts";
import { startApi } from "../support/start-api.ts";

// The clock stands still, so that no rate comes back.
const api = await startApi({
  rateLimits: { token: 10, workspace: 1_000 },
  clock: { now: () => new Date("2026-01-01T00:00:00Z"), advance: () => undefined },
});

const megabyte = 1024 * 1024;
const json = Buffer.from(JSON.stringify({ unknown: "a".repeat(megabyte) }));
// Field 1000, of bytes, and how many there are.
const proto = Buffer.concat([Buffer.from([0xc2, 0x3e, 0x80, 0x80, 0x40]), Buffer.alloc(megabyte)]);

const gzip = { "content-encoding": "gzip" };
type Row = [way: Way, body: Buffer, form: string, headers: Record<string, string>];
const rows: Row[] = [
  ...waysOf.json.map((way): Row => [way, json, "as it is", {}]),
  ...waysOf.proto.map((way): Row => [way, proto, "as it is", {}]),
  ["REST", gzipSync(json), "compressed", gzip],
  ["Connect with JSON", gzipSync(json), "compressed", gzip],
];

test.each(rows)(
  "a megabyte takes sixteen more calls of its caller's rate: %s, %3$s",
  async (way, body, _, headers) => {
    const { token } = await api.newWorkspace();
    const ask = (sent: Buffer, more: Record<string, string>) =>
      askBytes(api.port, way, LinksService.method.create, sent, {
        authorization: `Bearer ${token}`,
        ...more,
      });
    const reasons: (string | undefined)[] = [];
    // A burst is 20 calls: the second megabyte leaves a debt, which small calls pay as well.
    for (let call = 0; call < 3; call++) reasons.push((await ask(body, headers)).reason);
    expect(reasons).toEqual(["INVALID_ARGUMENT", "INVALID_ARGUMENT", "RATE_LIMITED"]);
    expect((await ask(Buffer.alloc(0), {})).reason).toBe("RATE_LIMITED");
  },
);

test("messages of an ordinary size take one call each", async () => {
  const { token } = await api.newWorkspace();
  const small = Buffer.from(JSON.stringify({ unknown: "a".repeat(60 * 1024) }));
  const reasons: (string | undefined)[] = [];
  for (let call = 0; call < 21; call++) {
    const headers = { authorization: `Bearer ${token}` };
    reasons.push((await askBytes(api.port, "REST", LinksService.method.create, small, headers)).reason);
  }
  expect(reasons).toEqual([...Array(20).fill("INVALID_ARGUMENT"), "RATE_LIMITED"]);
});
