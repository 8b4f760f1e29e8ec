import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { UsageError } from "../outcome.ts";
import type { EnvironmentVariables } from "../profiles.ts";

/** A file that a browser can show. */
export interface ShownFile {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** Where pictures and fonts of the page are: the service. */
  readonly baseUrl: string;
}

/** How long the file is served once a browser has it and asks for nothing more, in milliseconds. */
const quietMs = 3_000;

/** How long a browser may take to ask for the file, in milliseconds. */
const openMs = 60_000;

/**
 * Shows a file in the browser of whoever runs the command. A page needs an origin for its pictures and fonts, which a file
 * on the disk has not, so it is served on this machine, at an address that nobody can guess, until the browser has all of it.
 */
export async function openInBrowser(
  file: ShownFile,
  env: EnvironmentVariables,
  report: (text: string) => void,
): Promise<void> {
  const path = `/${randomUUID()}`;
  const quiet = Promise.withResolvers<void>();
  let timer = setTimeout(
    () => quiet.reject(new UsageError("--open: no browser has asked for the page")),
    openMs,
  );
  const server = createServer(async ({ url = "", method }, res) => {
    clearTimeout(timer);
    if (method !== "GET") res.writeHead(405).end();
    else if (url === path)
      res.writeHead(200, { "content-type": file.contentType, "cache-control": "no-store" }).end(file.bytes);
    else if (url.startsWith("/_p/")) await passOn(new URL(url, file.baseUrl), res);
    else res.writeHead(404).end();
    clearTimeout(timer);
    timer = setTimeout(quiet.resolve, quietMs);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    startBrowser(`http://127.0.0.1:${port}${path}`, env, report);
    await quiet.promise;
  } finally {
    clearTimeout(timer);
    server.close();
    server.closeAllConnections();
  }
}

/** Answers with what the service has at an address. */
async function passOn(url: URL, res: ServerResponse): Promise<void> {
  try {
    const answer = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(30_000) });
    const contentType = answer.headers.get("content-type") ?? "application/octet-stream";
    const bytes = Buffer.from(await answer.arrayBuffer());
    res.writeHead(answer.status, { "content-type": contentType }).end(bytes);
  } catch {
    res.writeHead(502).end();
  }
}

function startBrowser(address: string, env: EnvironmentVariables, report: (text: string) => void): void {
  report(`Opening ${address}`);
  const [program, ...before] = browserOf(env);
  const browser = spawn(program, [...before, address], { detached: true, stdio: "ignore" });
  browser.on("error", () => report("No browser could be started: open the address yourself."));
  browser.unref();
}

/** The program that opens addresses: `BROWSER`, or what the system has for it. */
function browserOf({ BROWSER }: EnvironmentVariables): [string, ...string[]] {
  if (BROWSER !== undefined && BROWSER !== "") return [BROWSER];
  if (process.platform === "darwin") return ["open"];
  return process.platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler"] : ["xdg-open"];
}
