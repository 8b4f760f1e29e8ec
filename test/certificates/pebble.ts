import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { createCertificateMaker } from "../support/certificate-maker.ts";

/** Pebble, the authority with which Let's Encrypt tests clients. */
export interface Pebble {
  readonly directory: string;
  /** What signs the certificate of its own port, in PEM. */
  readonly trust: string;
  /** The root of the certificates that it signs. */
  root(): Promise<string>;
  /** Tells it when clients are to renew a certificate (RFC 9773). */
  setRenewalWindow(chain: string, window: { readonly start: string; readonly end: string }): Promise<void>;
  output(): string;
  stop(): Promise<void>;
}

export interface PebbleOptions {
  readonly program: string;
  /** The ports at which it looks for challenges. */
  readonly httpPort: number;
  readonly tlsPort: number;
  readonly dnsServer: string;
  /** The share of nonces that it refuses, in per cent. */
  readonly refusedNonces?: number;
  /** The life of its certificates. */
  readonly lifeSeconds?: number;
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

export async function startPebble(options: PebbleOptions): Promise<Pebble> {
  const folder = await mkdtemp(join(tmpdir(), "pebble-"));
  const maker = await createCertificateMaker();
  const { cert, key } = await maker.sign(["127.0.0.1", "localhost"]);
  const [port, managementPort] = [await freePort(), await freePort()];
  await writeFile(join(folder, "cert.pem"), cert);
  await writeFile(join(folder, "key.pem"), key);
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: join(folder, "cert.pem"),
    privateKey: join(folder, "key.pem"),
    httpPort: options.httpPort,
    tlsPort: options.tlsPort,
    retryAfter: { authz: 0, order: 0 },
    keyAlgorithm: "ecdsa",
    profiles: { default: { description: "", validityPeriod: options.lifeSeconds ?? 90 * 86_400 } },
  };
  await writeFile(join(folder, "config.json"), JSON.stringify({ pebble }));
  const child = spawn(
    options.program,
    ["-config", join(folder, "config.json"), "-dnsserver", options.dnsServer],
    {
      env: {
        PEBBLE_VA_NOSLEEP: "1",
        PEBBLE_AUTHZREUSE: "0",
        PEBBLE_WFE_NONCEREJECT: String(options.refusedNonces ?? 0),
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (said: string) => {
      output += said;
    });
  const directory = `https://127.0.0.1:${port}/dir`;
  const manage = (path: string, body?: string) =>
    send(`https://127.0.0.1:${managementPort}${path}`, maker.root, body);
  await untilThere(
    child,
    () => send(directory, maker.root),
    () => output,
  );
  return {
    directory,
    trust: maker.root,
    root: () => manage("/roots/0"),
    setRenewalWindow: async (certificate, suggestedWindow) => {
      const ariResponse = JSON.stringify({ suggestedWindow });
      await manage("/set-renewal-info/", JSON.stringify({ certificate, ariResponse }));
    },
    output: () => output,
    async stop() {
      child.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilThere(
  child: ChildProcess,
  ask: () => Promise<unknown>,
  output: () => string,
): Promise<void> {
  for (let tried = 0; ; tried++) {
    try {
      await ask();
      return;
    } catch (cause) {
      if (tried > 300 || child.exitCode !== null)
        throw new Error(`Pebble did not start:\n${output()}`, { cause });
      await pause(100);
    }
  }
}

async function send(url: string, ca: string, body?: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { "user-agent": "test" };
  const request = https.request(url, { ca, headers, method: body === undefined ? "GET" : "POST" });
  request.on("error", reject).on("response", (answer) => {
    text(answer).then((said) => {
      if (answer.statusCode === 200) resolve(said);
      else reject(new Error(`${url}: ${answer.statusCode} ${said}`));
    }, reject);
  });
  request.end(body);
  return promise;
}
