import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { readWithZxing } from "../support/qr-readers.ts";
import { eventually, root, type Service, startService } from "../support/start-service.ts";

const run = promisify(execFile);

const readme = await readFile(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = ""]) => text);

/**
 * The commands that start and test the service. This test performs the first block itself, and runs inside of the
 * second.
 */
const startBlock = "npm ci\nnpm start\n";
const testBlock = "npm ci && npm test\n";

/** Printed between two blocks, to separate their outputs. */
const mark = "==== end of a block";

let service: Service;
let outputs: string[];

beforeAll(async () => {
  service = await startService({ database: "own", fromSources: true });
  await drawOnce();
  const { stdout } = await shell(blocks.filter((block) => !isSetUp(block)).join(`\necho '${mark}'\n`));
  outputs = stdout.split(`${mark}\n`);
  return () => service.stop();
});

/** Draws a code, because on a busy machine the first one may take longer than the commands wait for it. */
async function drawOnce(): Promise<void> {
  const headers = {
    authorization: `Bearer ${service.credentials.accessToken}`,
    "content-type": "application/json",
  };
  const links = `${service.baseUrl}/v1/links`;
  const body = JSON.stringify({ destination: "https://example.com", waitForQrcode: true });
  const made = JSON.parse(await (await fetch(links, { method: "POST", headers, body })).text());
  const link = `${links}/${made.link.id}`;
  const read = async () =>
    JSON.parse(await (await fetch(`${link}?include=qrcodeSignedUrl`, { headers })).text());
  await eventually(read, (answer) => Boolean(answer.link.qrcodeSignedUrl), 60_000);
  expect((await fetch(link, { method: "DELETE", headers })).status).toBe(200);
}

function isSetUp(block: string): boolean {
  return block === startBlock || block === testBlock;
}

/** Runs lines of the README in one shell that stops at the first failure; only port and data folder differ. */
function shell(lines: string): Promise<{ stdout: string }> {
  const here = lines
    .replaceAll("localhost:8080", `localhost:${service.port}`)
    .replaceAll("data/credentials.json", join(service.dataDir, "credentials.json"));
  return run("sh", ["-e", "-c", here], { cwd: service.dataDir });
}

function blockWith(text: string): string {
  const block = blocks.find((each) => each.includes(text));
  if (block === undefined) throw new Error(`no block of the README has ${text}`);
  return block;
}

function outputOf(text: string): string {
  const index = blocks.filter((block) => !isSetUp(block)).indexOf(blockWith(text));
  return outputs[index] ?? "";
}

test("the first block starts what this test starts", async () => {
  expect(blocks[0]).toBe(startBlock);
  expect(blocks).toContain(testBlock);
  const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const flags = "--max-semi-space-size=8";
  expect(scripts).toMatchObject({
    start: `node ${flags} src/main.ts`,
    test: expect.stringContaining("vitest run"),
  });
  expect(readme).toContain(`\`node ${flags} dist/service/main.js\``);
});

test("the first link is made, with its image", () => {
  const { link } = JSON.parse(outputOf('"shortlink":"menu"'));
  expect(link).toMatchObject({ shortlink: "menu", entrypoint: `${service.baseUrl}/menu` });
  expect(link.qrcodeSignedUrl).toMatch(/^http/);
});

test("opening it is a redirect, and the visit can be read back within the promised seconds", async () => {
  const block = blockWith("/menu?qr");
  expect(outputOf("/menu?qr")).toMatch(/^HTTP\/1\.1 302 .*^location: https:\/\/example\.com\/menu\r$/ims);
  const readBack = `${blockWith("token=$(")}${block.slice(block.indexOf("curl -s 'http://localhost:8080/v1/events"))}`;
  const events = await eventually(
    async () => JSON.parse((await shell(readBack)).stdout).json.events,
    (each) => each.length > 0,
  );
  expect(events).toMatchObject([
    { action: "ACTION_SCAN", destination: "https://example.com/menu", device: { country: "" } },
  ]);
});

test("the image is downloaded and reads as the entrypoint with the scan marker", async () => {
  expect(blockWith("qrcodeSignedUrl")).toContain("menu.png");
  const image = await readFile(join(service.dataDir, "menu.png"));
  expect(await readWithZxing(image)).toEqual([`${service.baseUrl}/menu?qr`]);
});

test("a form comes before the redirect, and a simulated visit waits at it", () => {
  const lines = outputOf(":simulate").trim();
  const simulation = JSON.parse(lines.slice(lines.lastIndexOf('{"path"')));
  expect(simulation).toMatchObject({
    path: [
      { eventAction: "EVENT_ACTION_LINK_VISIT" },
      { eventAction: "EVENT_ACTION_FORM_SUBMIT", completed: false },
    ],
    end: { kind: "KIND_WAITING" },
  });
});

test("the table has exactly the variables that the configuration reads", async () => {
  const config = await readFile(join(root, "src/service/config.ts"), "utf8");
  const read = [...config.matchAll(/"([A-Z][A-Z0-9_]{3,})"/g)].map(([, name]) => name);
  const rows = [...readme.matchAll(/^\| (`[A-Z].*?) \|/gm)].flatMap(([, cell = ""]) =>
    cell.match(/[A-Z][A-Z0-9_]{3,}/g),
  );
  expect(new Set(rows)).toEqual(new Set(read));
});
