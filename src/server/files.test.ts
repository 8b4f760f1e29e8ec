import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signFileUrl } from "../lib/storage/file-url.ts";
import { openStorage } from "../lib/storage/open-storage.ts";
import { signUrl } from "../lib/storage/signed-url.ts";
import type { Storage } from "../lib/storage/storage.ts";
import { filesHandler } from "./files.ts";

const key = Buffer.alloc(32, 7);
const time = new Date("2026-08-01T12:00:00Z");
const inAnHour = new Date("2026-08-01T13:00:00Z");
const logged: unknown[] = [];

let directory: string;
let storage: Storage;
let server: Server;
let baseUrl: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "files-"));
  storage = await openStorage({ directory });
  await storage.put("qr/a.png", Buffer.from("first image"), { contentType: "image/png" });
  const broken: Storage = {
    ...storage,
    get: (name) => (name === "qr/broken.png" ? Promise.reject(new Error("disk on fire")) : storage.get(name)),
  };
  const log = { error: (details: unknown) => void logged.push(details) };
  const handler = filesHandler({ storage: broken, signingKey: key, now: () => time, log });
  server = createServer((req, res) => void handler(req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server's address is an AddressInfo
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true });
});

function address(storageKey: string, expiresAt = inAnHour): string {
  return signFileUrl(storageKey, { baseUrl, expiresAt, key });
}

test("serves a stored file with its type, its length and a strong entity tag, until the address expires", async () => {
  const res = await fetch(address("qr/a.png"));
  expect(res.status).toBe(200);
  expect(await res.text()).toBe("first image");
  expect(Object.fromEntries(res.headers)).toMatchObject({
    "content-type": "image/png",
    "content-length": "11",
    "cache-control": "private, max-age=3600",
    "x-content-type-options": "nosniff",
    etag: expect.stringMatching(/^"[\w-]{43}"$/),
  });
});

test("gives pictures of pages as WEBP to who asks for it and as JPEG to others, at one address for good", async () => {
  const folder = `public/pages/${"0f".repeat(16)}`;
  await storage.put(`${folder}/tall-780x1688.webp`, Buffer.from("small"), { contentType: "image/webp" });
  await storage.put(`${folder}/tall.jpg`, Buffer.from("plain"), { contentType: "image/jpeg" });
  const got = async (name: string, accept?: string) => {
    const headers = accept === undefined ? {} : { accept };
    const res = await fetch(`${baseUrl}/_p/files/${folder}/${name}`, { headers });
    const { status } = res;
    const [type, cached, vary] = ["content-type", "cache-control", "vary"].map((header) =>
      res.headers.get(header),
    );
    return [status, type, await res.text(), cached, vary];
  };
  const forGood = ["public, max-age=31536000, immutable", "accept"];
  const chrome = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8";
  expect(await got("tall-780x1688.webp", chrome)).toEqual([200, "image/webp", "small", ...forGood]);
  for (const accept of [undefined, "*/*", "image/png,image/*;q=0.8,*/*;q=0.5"])
    expect(await got("tall-780x1688.webp", accept)).toEqual([200, "image/jpeg", "plain", ...forGood]);
  for (const name of ["wide-780x585.webp", "wide.jpg", ".webp", "-.webp"]) {
    const [status, , , cached] = await got(name, chrome);
    expect([status, cached]).toEqual([404, "no-store"]);
  }
});

test("answers HEAD like GET without the body", async () => {
  const got = await fetch(address("qr/a.png"));
  const headed = await fetch(address("qr/a.png"), { method: "HEAD" });
  expect(headed.status).toBe(200);
  expect(await headed.text()).toBe("");
  for (const name of ["content-type", "content-length", "etag", "cache-control"])
    expect(headed.headers.get(name)).toBe(got.headers.get(name));
});

test("answers 304 to a client that has the file, and 200 once the file has changed", async () => {
  await storage.put("qr/changing.png", Buffer.from("old"), { contentType: "image/png" });
  const etag = (await fetch(address("qr/changing.png"))).headers.get("etag") ?? "";
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const res = await fetch(address("qr/changing.png"), { headers: { "if-none-match": known } });
    expect(res.status).toBe(304);
    expect(res.headers.get("etag")).toBe(etag);
    expect(await res.text()).toBe("");
  }
  await storage.put("qr/changing.png", Buffer.from("new"), { contentType: "image/png" });
  const changed = await fetch(address("qr/changing.png"), { headers: { "if-none-match": etag } });
  expect(changed.status).toBe(200);
});

test("answers 403 to unsigned, altered and expired addresses, and 404 to missing files", async () => {
  const cases: [string, number, string][] = [
    [`${baseUrl}/_p/files/qr/a.png`, 403, "PERMISSION_DENIED"],
    [address("qr/a.png").replace("qr/a", "qr/b"), 403, "PERMISSION_DENIED"],
    [address("qr/a.png", new Date(time.getTime() - 1000)), 403, "PERMISSION_DENIED"],
    [address("qr/none.png"), 404, "NOT_FOUND"],
    [address("qr/a.html"), 404, "NOT_FOUND"],
    [signUrl({ baseUrl, path: "/elsewhere/qr/a.png", expiresAt: inAnHour, key }), 404, "NOT_FOUND"],
  ];
  for (const [url, status, codeType] of cases) {
    const res = await fetch(url);
    expect(res.status).toBe(status);
    expect(res.headers.get("content-type")).toBe("application/json");
    expect(res.headers.get("cache-control")).toBe("no-store");
    const body = { error: { code: status, codeType, message: expect.any(String), details: [] } };
    expect(await res.json()).toEqual(body);
  }
});

test("answers 405 with Allow to every other method, before it checks the signature", async () => {
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
    const res = await fetch(`${baseUrl}/_p/files/qr/a.png`, { method });
    expect(res.status).toBe(405);
    expect(res.headers.get("allow")).toBe("GET, HEAD");
    expect(await res.json()).toMatchObject({ error: { code: 405, codeType: "METHOD_NOT_ALLOWED" } });
  }
});

test("answers 500 without the cause when the storage fails, and logs the cause", async () => {
  const res = await fetch(address("qr/broken.png"));
  expect(res.status).toBe(500);
  expect(await res.text()).not.toContain("disk");
  expect(logged).toEqual([{ err: new Error("disk on fire") }]);
});
