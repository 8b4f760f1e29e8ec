import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Geography, nowhere, openGeography } from "./geography.ts";

type Value = string | number | Value[] | { [key: string]: Value };

/** MaxMind's encoding of one value: maps, arrays, UTF-8 strings and 32-bit unsigned integers, all of them short. */
function encode(value: Value): Buffer {
  if (typeof value === "string") {
    const text = Buffer.from(value);
    return Buffer.concat([head(2, text.length), text]);
  }
  if (typeof value === "number") {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([head(6, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([Buffer.of(value.length, 11 - 7), ...value.map(encode)]);
  const entries = Object.entries(value);
  return Buffer.concat([
    head(7, entries.length),
    ...entries.flatMap(([key, inner]) => [encode(key), encode(inner)]),
  ]);
}

function head(type: number, size: number): Buffer {
  return size < 29 ? Buffer.of((type << 5) | size) : Buffer.of((type << 5) | 29, size - 29);
}

/** A database of format 2.0 with one record, for 203.0.0.0/8. */
function databaseOf(record: Value): Buffer {
  const bits = [...(203).toString(2).padStart(8, "0")].map(Number);
  const nodes = bits.length;
  const tree = Buffer.alloc(nodes * 6);
  for (const [index, bit] of bits.entries()) {
    const next = index + 1 < nodes ? index + 1 : nodes + 16;
    tree.writeUIntBE(bit === 0 ? next : nodes, index * 6, 3);
    tree.writeUIntBE(bit === 1 ? next : nodes, index * 6 + 3, 3);
  }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 0,
    database_type: "City",
    description: {},
    ip_version: 4,
    languages: ["en"],
    node_count: nodes,
    record_size: 24,
  });
  const marker = Buffer.concat([Buffer.of(0xab, 0xcd, 0xef), Buffer.from("MaxMind.com")]);
  return Buffer.concat([tree, Buffer.alloc(16), encode(record), marker, metadata]);
}

const directory = mkdtempSync(join(tmpdir(), "geography-test-"));
let countriesOnly: Geography;

beforeAll(async () => {
  countriesOnly = await openGeography();
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("knows the country of addresses of both families", () => {
  expect(countriesOnly.placeOf("8.8.8.8")).toEqual({ ...nowhere, country: "US" });
  expect(countriesOnly.placeOf("193.0.6.139").country).toBe("NL");
  expect(countriesOnly.placeOf("2001:67c:2e8:22::c100:68b").country).toBe("NL");
});

test.each([
  "10.1.2.3",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "127.0.0.1",
  "169.254.1.1",
  "100.64.0.1",
  "0.0.0.0",
  "::1",
  "::",
  "fd00::1",
  "fe80::1",
  "",
  "unknown",
  "8.8.8.8, 10.0.0.1",
])("is nowhere for %s", (address) => {
  expect(countriesOnly.placeOf(address)).toEqual(nowhere);
});

test("takes region, city, time zone and provider from a city database, and the country from the other where it is silent", async () => {
  const path = join(directory, "city.mmdb");
  const city: Value = {
    country: { iso_code: "NZ" },
    subdivisions: [{ names: { en: "Wellington Region" } }],
    city: { names: { en: "Wellington" } },
    location: { time_zone: "Pacific/Auckland" },
    traits: { isp: "Example", autonomous_system_number: 64_496 },
  };
  writeFileSync(path, databaseOf(city));
  const geography = await openGeography(path);
  expect(geography.placeOf("203.0.113.1")).toEqual({
    country: "NZ",
    region: "Wellington Region",
    city: "Wellington",
    timezone: "Pacific/Auckland",
    isp: "Example",
    asn: 64_496,
  });
  expect(geography.placeOf("8.8.8.8")).toEqual({ ...nowhere, country: "US" });
});

test("refuses to start with a city database that cannot be read", async () => {
  await expect(openGeography(join(directory, "missing.mmdb"))).rejects.toThrow("missing.mmdb");
});
