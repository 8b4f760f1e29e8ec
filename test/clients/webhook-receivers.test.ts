import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Webhook } from "standardwebhooks";
import { afterAll, expect, test } from "vitest";
import { verifyWebhook } from "../../sdk/typescript/src/webhook.ts";
import { vectorsText } from "../../sdk/webhook-vectors.ts";
import { createSafeFetch } from "../../src/lib/fetch/safe-fetch.ts";
import { newWebhookSecret, webhookHeaders, webhookSecretText } from "../../src/lib/standard-webhooks.ts";
import { webhooksGuide } from "../../src/server/documents/guides/webhooks-guide.ts";

const root = join(import.meta.dirname, "../..");
const python = process.env.PYTHON ?? "python3";
const withoutPython = !runs(
  ["-c", "import sys; assert sys.version_info >= (3, 11)"],
  `${python} is no Python 3.11`,
);
const withoutLibrary = !runs(["-c", "import standardwebhooks"], `pip install standardwebhooks`);

/** Whether Python runs a program. With `CI=true` it must. */
function runs(program: readonly string[], remedy: string): boolean {
  if (spawnSync(python, program).status === 0) return true;
  if (process.env.CI === "true") throw new Error(remedy);
  return false;
}

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer;
  readonly now: Date;
  readonly isGenuine: boolean;
}

const vectors = vectorsText()
  .trim()
  .split("\n")
  .slice(1)
  .map((line): Vector => {
    const [name = "", secret = "", id = "", timestamp = "", signature = "", payload = "", now, verdict] =
      line.split("\t");
    return {
      ...{ name, secret, payload: Buffer.from(payload, "base64"), now: new Date(Number(now) * 1000) },
      headers: { "Webhook-Id": id, "webhook-timestamp": timestamp, "WEBHOOK-SIGNATURE": signature },
      isGenuine: verdict === "genuine",
    };
  });

const folder = await mkdtemp(join(tmpdir(), "signpost-receivers-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the messages that all languages' helpers are tested with are those that the service signs", async () => {
  expect(await readFile(join(root, "sdk/webhook-vectors.tsv"), "utf8")).toBe(vectorsText());
});

test("the TypeScript helper takes genuine messages, and refuses others without a word about the secret", async () => {
  for (const { name, secret, headers, payload, now, isGenuine } of vectors) {
    const outcome = await verifyWebhook(payload, headers, secret, now).catch((error: Error) => error);
    if (isGenuine) expect([name, outcome]).toEqual([name, JSON.parse(payload.toString())]);
    else
      expect([name, outcome]).toEqual([name, expect.objectContaining({ name: "WebhookVerificationError" })]);
  }
  const [{ payload, secret, headers, now }] = vectors as [Vector];
  expect(await verifyWebhook(payload.toString(), new Headers(headers), secret, now)).toHaveProperty("type");
  await expect(verifyWebhook(payload, {}, secret, now)).rejects.toThrow(
    "a header of the signature is missing",
  );
  await expect(verifyWebhook(payload, headers, "whsec_", now)).rejects.toThrow(
    "the secret must be whsec_ and base64",
  );
});

/** The Python package as far as a receiver needs it. */
async function pythonPackage(): Promise<string> {
  const place = join(folder, "python");
  await mkdir(join(place, "signpost"), { recursive: true });
  await copyFile(join(root, "sdk/python/src/signpost/webhooks.py"), join(place, "signpost/__init__.py"));
  return place;
}

test.skipIf(withoutPython)(
  "the Python helper judges the same messages alike (needs Python 3.11)",
  async () => {
    const program = `
import base64, json, sys
from signpost import WebhookVerificationError, verify_webhook
for line in sys.stdin.read().strip().split("\\n")[1:]:
    name, secret, id, timestamp, signature, payload, now, verdict = line.split("\\t")
    headers = {"Webhook-Id": id, "webhook-timestamp": timestamp, "WEBHOOK-SIGNATURE": signature}
    body = base64.b64decode(payload)
    try:
        genuine = verify_webhook(body, headers, secret, now=float(now)) == json.loads(body)
    except WebhookVerificationError:
        genuine = False
    assert genuine == (verdict == "genuine"), name
print("judged")
`;
    const env = { ...process.env, PYTHONPATH: await pythonPackage(), PYTHONDONTWRITEBYTECODE: "1" };
    const { stdout, stderr } = spawnSync(python, ["-c", program], {
      input: vectorsText(),
      env,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(stdout).toBe("judged\n");
  },
);

const body = '{"type":"webhook.test","timestamp":"2026-09-21T14:13:20Z","data":{"name":"Zoë – 😀"}}';

/** A message that was signed just now, because libraries ask the real clock. */
function signedNow(secret: Uint8Array) {
  return webhookHeaders({ id: "msg_1", at: new Date(), body }, [secret, newWebhookSecret()]);
}

test("the JavaScript library of Standard Webhooks verifies what the service signs", () => {
  const secret = newWebhookSecret();
  expect(new Webhook(webhookSecretText(secret)).verify(body, signedNow(secret))).toEqual(JSON.parse(body));
});

test.skipIf(withoutLibrary)("so does the Python library (needs `pip install standardwebhooks`)", () => {
  const secret = newWebhookSecret();
  const program = `
import json, sys
from standardwebhooks.webhooks import Webhook
told = json.load(sys.stdin)
Webhook(told["secret"]).verify(told["body"], told["headers"])
print("verified")
`;
  const input = JSON.stringify({ secret: webhookSecretText(secret), body, headers: signedNow(secret) });
  const { stdout, stderr } = spawnSync(python, ["-c", program], { input, encoding: "utf8" });
  expect([stderr, stdout]).toEqual(["", "verified\n"]);
});

/** The program of a language that the guide shows. */
function shown(language: string): string {
  const [, code = ""] =
    new RegExp(`<code class="language-${language}">([^]*?)</code>`).exec(webhooksGuide) ?? [];
  return code.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const programs: readonly [
  string,
  boolean,
  () => Promise<{ program: string; args: string[]; path: string }>,
][] = [
  [
    "TypeScript",
    false,
    async () => {
      const file = join(folder, "receiver.ts");
      const helper = pathToFileURL(join(root, "sdk/typescript/src/webhook.ts"));
      await writeFile(file, shown("ts").replace('"signpost-client"', JSON.stringify(helper)));
      return { program: process.execPath, args: [file], path: "" };
    },
  ],
  [
    "Python",
    withoutPython,
    async () => {
      const file = join(folder, "receiver.py");
      await writeFile(file, shown("python"));
      return { program: python, args: [file], path: await pythonPackage() };
    },
  ],
];

test.for(programs.map((each) => [...each] as const))(
  "the receiver in %s of the guide accepts what the service sends, once, and refuses what others send",
  async ([, isMissing, prepare], context) => {
    if (isMissing) return context.skip("needs Python 3.11");
    const secret = newWebhookSecret();
    const { program, args, path } = await prepare();
    let port = 0;
    let printed = "";
    let child: ChildProcess | undefined;
    const start = async () => {
      port = await freePort();
      const PORT = String(port);
      const own = { PORT, SIGNPOST_WEBHOOK_SECRET: webhookSecretText(secret), PYTHONPATH: path };
      child = spawn(program, args, {
        env: { ...process.env, ...own, PYTHONDONTWRITEBYTECODE: "1" },
        stdio: ["ignore", "pipe", "ignore"],
      });
      child.stdout?.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
      });
    };
    const fetch = createSafeFetch({ allowedNetworks: ["127.0.0.1/32"] });
    try {
      const send = async (headers: Record<string, string>) => {
        const address = `http://127.0.0.1:${port}/`;
        const sent = await fetch.send({ address, method: "POST", headers, body, cleartext: true });
        return sent.kind === "answered" ? sent.status : sent.kind;
      };
      const headers = signedNow(secret);
      // It accepts connections a moment after it began. It ends at once when another program has taken its port.
      const begin = async () => {
        if (child === undefined || child.exitCode !== null) await start();
        return send(headers);
      };
      await expect.poll(begin, { timeout: 30_000 }).toBe(204);
      expect(await send(headers)).toBe(204);
      expect(await send(signedNow(newWebhookSecret()))).toBe(400);
      expect(await send({})).toBe(400);
      await expect.poll(() => printed, { timeout: 10_000 }).toMatch(/^webhook\.test \{.*\}\n$/);
    } finally {
      child?.kill();
      await fetch.close();
    }
  },
);
