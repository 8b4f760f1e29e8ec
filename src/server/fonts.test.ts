import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { faces } from "../../gen/fonts.ts";
import { fontsHandler } from "./fonts.ts";

const handler = fontsHandler();
const server = createServer((req, res) => void handler(req, res));
let origin = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has no other kind
});
afterAll(() => server.close());

const file = faces.gelasio["400"].files.latin;

test("a font may be kept for good, because its name changes with its bytes", async () => {
  for (const method of ["GET", "HEAD"]) {
    const answer = await fetch(`${origin}/_p/fonts/${file}?any`, { method });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "font/woff2",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.subarray(0, 4).toString()).toBe(method === "GET" ? "wOF2" : "");
  }
});

test("nothing but the listed files is served, and a missing one is not remembered", async () => {
  for (const name of ["", "README.md", "OFL.txt", "%2e%2e/README.md", "..%2f..%2fpackage.json", `${file}x`]) {
    const answer = await fetch(`${origin}/_p/fonts/${name}`);
    expect([answer.status, answer.headers.get("cache-control")], name).toEqual([404, "no-store"]);
  }
  const posted = await fetch(`${origin}/_p/fonts/${file}`, { method: "POST", body: "x" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});
