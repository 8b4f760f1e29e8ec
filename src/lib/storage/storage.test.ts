import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type S3TestServer, s3Credentials, startS3Server } from "../../../test/support/s3-server.ts";
import { openStorage } from "./open-storage.ts";
import type { Storage } from "./storage.ts";

const png = { contentType: "image/png" };
const { TEST_S3_ENDPOINT, TEST_S3_BUCKET = "files", TEST_S3_REGION = "us-east-1" } = process.env;
const { TEST_S3_ACCESS_KEY_ID = "", TEST_S3_SECRET_ACCESS_KEY = "" } = process.env;

let directory: string;
let server: S3TestServer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "storage-"));
  server = await startS3Server();
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

function bucket(overrides = {}): Promise<Storage> {
  const s3 = { ...s3Credentials, endpoint: server.endpoint, retryDelayMs: 1, ...overrides };
  return openStorage({ directory, s3 });
}

/** A bucket of any S3-compatible server that the environment names, for manual runs. */
function bucketElsewhere(endpoint: string): Promise<Storage> {
  const s3 = {
    endpoint,
    bucket: TEST_S3_BUCKET,
    region: TEST_S3_REGION,
    accessKeyId: TEST_S3_ACCESS_KEY_ID,
    secretAccessKey: TEST_S3_SECRET_ACCESS_KEY,
  };
  return openStorage({ directory, s3 });
}

const kinds: (readonly [string, () => Promise<Storage>])[] = [
  ["the local folder", () => openStorage({ directory: join(directory, "made", "on demand") })],
  ["a bucket", bucket],
  ...(TEST_S3_ENDPOINT === undefined
    ? []
    : [[`a bucket at ${TEST_S3_ENDPOINT}`, () => bucketElsewhere(TEST_S3_ENDPOINT)] as const]),
];

const malformedKeys = [
  "",
  "a",
  ".png",
  "/a.png",
  "a//b.png",
  "../a.png",
  "a/../b.png",
  "a/./b.png",
  "a.b/c.png",
  "a\\b.png",
  "A.png",
  "a%2fb.png",
  "a.png\n",
  "a\0.png",
  "a.html",
  "a.gz",
  "a.png.gz",
  "a/b.csv/c.gz",
  "a.constructor",
  "é.png",
  `${"a".repeat(101)}.png`,
  `${"a/".repeat(9)}a.png`,
];

describe.each(kinds)("%s", (_name, open) => {
  test("returns a stored file byte for byte, with its content type", async () => {
    const storage = await open();
    const bytes = randomBytes(300_000);
    await storage.put("media/a/b-1_2.jpg", bytes, { contentType: "image/jpeg" });
    await storage.put("empty.csv", new Uint8Array(), { contentType: "text/csv; charset=utf-8" });
    const file = await storage.get("media/a/b-1_2.jpg");
    expect(file?.contentType).toBe("image/jpeg");
    expect(Buffer.compare(file?.bytes ?? Buffer.of(), bytes)).toBe(0);
    expect((await storage.get("empty.csv"))?.bytes).toHaveLength(0);
  });

  test("replaces a file as a whole", async () => {
    const storage = await open();
    await storage.put("again.png", Buffer.from("a long first text"), png);
    await storage.put("again.png", Buffer.from("short"), png);
    expect(Buffer.from((await storage.get("again.png"))?.bytes ?? []).toString()).toBe("short");
  });

  test("keeps one whole file when several writers store it at once", async () => {
    const storage = await open();
    const writes = Array.from({ length: 8 }, (_, index) => Buffer.alloc(100_000, index));
    await Promise.all(writes.map((bytes) => storage.put("raced.png", bytes, png)));
    const bytes = Buffer.from((await storage.get("raced.png"))?.bytes ?? []);
    expect(writes.some((written) => written.equals(bytes))).toBe(true);
  });

  test("returns undefined for a missing file", async () => {
    expect(await (await open()).get("missing/file.png")).toBeUndefined();
  });

  test("deletes a file, and succeeds when it is gone already", async () => {
    const storage = await open();
    await storage.put("doomed.svg", Buffer.from("<svg/>"), { contentType: "image/svg+xml" });
    await storage.delete("doomed.svg");
    await storage.delete("doomed.svg");
    expect(await storage.get("doomed.svg")).toBeUndefined();
  });

  test.each(malformedKeys)("refuses the key %j in every operation", async (key) => {
    const storage = await open();
    await expect(storage.put(key, Buffer.of(1), png)).rejects.toThrow(RangeError);
    await expect(storage.get(key)).rejects.toThrow(RangeError);
    await expect(storage.delete(key)).rejects.toThrow(RangeError);
  });

  test("stores a local file, and reads any part of it as a stream", async () => {
    const path = join(await mkdtemp(join(tmpdir(), "signpost-source-")), "source");
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    await writeFile(path, content);
    const key = "exports/all.csv.gz";
    const storage = await open();
    await storage.putFile(key, path, createHash("sha256").update(content).digest("hex"));
    await rm(dirname(path), { recursive: true });
    expect(await storage.sizeOf(key)).toBe(content.length);
    expect((await storage.get(key))?.contentType).toBe("application/gzip");
    const part = await storage.read(key, { first: 1_000, last: 250_000 });
    expect(part && Buffer.concat(await part.toArray())).toEqual(content.subarray(1_000, 250_001));
    expect(await storage.sizeOf("exports/none.csv.gz")).toBeUndefined();
    expect(await storage.read("exports/none.csv.gz", { first: 0, last: 1 })).toBeUndefined();
  });

  test("refuses a content type other than the extension's", async () => {
    await expect((await open()).put("a.png", Buffer.of(1), { contentType: "text/html" })).rejects.toThrow(
      RangeError,
    );
  });
});

test("leaves only the file itself in the local folder, readable by its owner only", async () => {
  const folder = join(directory, "alone");
  const storage = await openStorage({ directory: folder });
  await storage.put("deep/er/a.png", Buffer.of(1), png);
  await storage.put("deep/er/a.png", Buffer.of(2), png);
  const files = await readdir(folder, { recursive: true });
  expect(files.toSorted()).toEqual(["deep", "deep/er", "deep/er/a.png"]);
  expect((await stat(join(folder, "deep/er/a.png"))).mode & 0o777).toBe(0o600);
});

test("tries a bucket again after server errors, throttling, hang-ups and silence", async () => {
  const storage = await bucket({ timeoutMs: 500 });
  server.failNext("internal error", "slow down", "hangs up");
  await storage.put("retried.png", Buffer.from("safe"), png);
  server.failNext("never answers");
  expect(Buffer.from((await storage.get("retried.png"))?.bytes ?? []).toString()).toBe("safe");
});

test("gives up on a bucket after four attempts and says why", async () => {
  const before = server.requestCount();
  server.failNext("internal error", "internal error", "internal error", "internal error");
  await expect((await bucket()).get("a.png")).rejects.toThrow(
    "object storage: GET a.png answered 500 InternalError",
  );
  expect(server.requestCount() - before).toBe(4);
});

test("reports a refused signature and a missing bucket as faults at once, not as missing files", async () => {
  const before = server.requestCount();
  await expect((await bucket({ secretAccessKey: "wrong" })).get("a.png")).rejects.toThrow(
    "403 SignatureDoesNotMatch",
  );
  await expect((await bucket({ bucket: "other" })).get("a.png")).rejects.toThrow("404 NoSuchBucket");
  expect(server.requestCount() - before).toBe(2);
});

describe("files that come with the program", () => {
  const key = "media/shipped.json";
  const file = new URL("../../../package.json", import.meta.url);

  test.each(kinds.map(([name], index) => [name, index] as const))(
    "are read beside those of %s, and nothing changes them",
    async (_, index) => {
      const s3 = index === 1 ? { ...s3Credentials, endpoint: server.endpoint, retryDelayMs: 1 } : undefined;
      const storage = await openStorage({ directory, s3, shipped: new Map([[key, file]]) });
      const bytes = await readFile(file);
      await storage.delete(key);
      await expect(storage.put(key, Buffer.from("{}"), { contentType: "application/json" })).rejects.toThrow(
        RangeError,
      );
      await expect(storage.putFile(key, "x", "0")).rejects.toThrow(RangeError);
      expect(Buffer.from((await storage.get(key))?.bytes ?? [])).toEqual(bytes);
      expect((await storage.get(key))?.contentType).toBe("application/json");
      expect(await storage.sizeOf(key)).toBe(bytes.length);
      const part = await storage.read(key, { first: 1, last: 5 });
      expect(await buffer(part ?? Readable.from([]))).toEqual(bytes.subarray(1, 6));
      await storage.put("media/own.png", Buffer.from("own"), png);
      expect(Buffer.from((await storage.get("media/own.png"))?.bytes ?? []).toString()).toBe("own");
      await storage.delete("media/own.png");
      expect(await storage.get("media/own.png")).toBeUndefined();
    },
  );
});
