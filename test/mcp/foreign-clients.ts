import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServiceProcess } from "../bench/service-process.ts";
import { consentAt } from "./consent.ts";

/*
 * Lets clients that nobody here wrote connect to the tools of a real service, from registration to a tool's answer, while a
 * browser signs in and consents for the person: the inspector's command line, and the Python SDK in `PYTHON`.
 * `npm run mcp:clients`.
 */
const inspector = "@modelcontextprotocol/inspector@2.12.0";
const python = process.env.PYTHON ?? "python3";

const service = await startServiceProcess();
const folder = await mkdtemp(join(tmpdir(), "signpost-mcp-"));
const url = `http://localhost:${service.port}/mcp`;
try {
  for (const era of ["legacy", "modern"]) {
    const listed = await inspect(era, "--relogin", "--method", "tools/list", "--strict");
    console.log(`inspector, ${era}: ${listed.tools.length} tools`);
    const made = await inspect(
      era,
      "--method",
      "tools/call",
      "--tool-name",
      "links_create",
      "--tool-arg",
      "destination=https://example.com/x",
    );
    console.log(`inspector, ${era}: made ${made.structuredContent.link.shortlink}`);
  }
  for (const mode of ["legacy", "auto"]) {
    const client = join(import.meta.dirname, "python-client.py");
    const printed = await connect(python, [client, url, mode, "links:write"], process.env);
    console.log(`Python SDK, ${mode}: ${/^done (.*)$/m.exec(printed)?.[1]}`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
  await service.remove();
}

/** Runs the inspector's command line, and returns what it prints. */
async function inspect(era: string, ...args: string[]) {
  const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;
  const common = ["--server-url", url, "--protocol-era", era, "--format", "json", "--callback-url", callback];
  const env = {
    ...process.env,
    HOME: folder,
    MCP_AUTO_OPEN_ENABLED: "true",
    MCP_INSPECTOR_SECRET_STORE: "file",
  };
  const printed = await connect("npx", ["-y", inspector, "--cli", ...common, ...args], env);
  return JSON.parse(printed.slice(printed.indexOf("{"))).result;
}

/** Runs a program, consents at the address that it asks a person to open, and returns what it printed. */
async function connect(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const printed = { stdout: "", all: "" };
  let consenting: Promise<void> | undefined;
  const read = (text: string) => {
    printed.all += text;
    const address = /https?:\S+\/oauth2\/auth\?[^\s"']+/.exec(printed.all)?.[0];
    if (address !== undefined && /\s/.test(printed.all.at(-1) ?? ""))
      consenting ??= consentAt(address, service.credentials);
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed.stdout += text;
    read(text);
  });
  child.stderr.setEncoding("utf8").on("data", read);
  const code = await new Promise((resolve) => child.on("close", resolve));
  await consenting?.catch((cause: unknown) => {
    throw new Error(`nobody consented: ${printed.all.slice(-4_000)}`, { cause });
  });
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${printed.all.slice(-4_000)}`);
  return printed.stdout;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
