import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { isLoopback } from "../lib/hosts.ts";
import { createAsk } from "./operations/ask.ts";
import { findCommand, loadGroup } from "./operations/groups.ts";
import { type RestCall, restCall } from "./operations/request.ts";
import { exitCodes, RefusedError, UsageError } from "./outcome.ts";
import {
  defaultBaseUrl,
  defaultProfile,
  type EnvironmentVariables,
  keepProfile,
  parseBaseUrl,
} from "./profiles.ts";

/**
 * Asks for a token, checks it with the service and stores it. Returns what to print. Throws a UsageError or a
 * RefusedError.
 */
export async function login(args: readonly string[], env: EnvironmentVariables): Promise<string> {
  const { profile = defaultProfile, "base-url": url } = parse(args);
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(profile))
    throw new UsageError("--profile must be 1 to 64 letters, digits, dots, hyphens and underscores", "login");
  const baseUrl = parseBaseUrl(url ?? env.SIGNPOST_URL ?? defaultBaseUrl, "--base-url");
  const accessToken = (await readToken(baseUrl)).trim();
  if (!/^[!-~]+$/.test(accessToken)) throw new UsageError("this text is not a token", "login");
  await createAsk({ baseUrl, accessToken })(await checkingCall());
  await keepProfile(env, profile, { baseUrl, accessToken });
  const { protocol, hostname } = new URL(baseUrl);
  const warning =
    protocol === "http:" && !isLoopback(hostname)
      ? "\nThe address is no https: the token can be read on its way."
      : "";
  const use = profile === defaultProfile ? "" : ` Use it with --profile ${profile}.`;
  return `Logged in to ${baseUrl}.${use}${warning}`;
}

/**
 * The call that checks a token: anyone may make it, but the service refuses it with a wrong token, whatever the right
 * token's scopes are.
 */
async function checkingCall(): Promise<RestCall> {
  const command = findCommand(await loadGroup("api-scopes"), "list");
  if (command === undefined) throw new Error("the interface lists its scopes");
  return restCall(command.binding, {});
}

function parse(args: readonly string[]) {
  try {
    const options = { profile: { type: "string" }, "base-url": { type: "string" } } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), "login");
  }
}

/** Reads the token from a terminal without echo, or else all of standard input. */
async function readToken(baseUrl: string): Promise<string> {
  if (!process.stdin.isTTY) return await readText(process.stdin);
  process.stderr.write(`Token for ${baseUrl}: `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      reader.once("line", resolve);
      reader.once("SIGINT", () => reject(cancelled()));
      reader.once("close", () => reject(cancelled()));
    });
  } finally {
    reader.close();
    process.stderr.write("\n");
  }
}

function cancelled(): RefusedError {
  return new RefusedError({
    reason: "CANCELLED",
    message: "no token was given",
    exitCode: exitCodes.other,
    fields: [],
    facts: {},
    requestId: undefined,
  });
}
