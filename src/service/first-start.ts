import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "./config.ts";

/** What the first start writes to `DATA_DIR/credentials.json` for the operator. */
export interface Credentials {
  readonly baseUrl: string;
  readonly workspaceId: string;
  readonly accessToken: string;
  readonly email: string;
  readonly password: string;
}

/** The configured master secret, or the one that is made once and kept in `DATA_DIR/secret`. */
export async function masterSecret({ secret, dataDir }: Pick<Config, "secret" | "dataDir">): Promise<string> {
  if (secret !== undefined) return secret;
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, "secret");
  const made = randomBytes(32).toString("base64url");
  await writeOnce(file, made);
  return (await readFile(file, "utf8")).trim();
}

/** Writes the first credentials to a file that only the owner of the process can read. */
export async function keepCredentials(dataDir: string, credentials: Credentials): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, "credentials.json"), `${JSON.stringify(credentials, undefined, 2)}\n`, {
    mode: 0o600,
  });
}

/** A password for the first member, 24 characters from 18 random bytes. */
export function newPassword(): string {
  return randomBytes(18).toString("base64url");
}

/** The text that the first start prints in a terminal: the credentials, once, and a command to paste. */
export function greeting(
  { baseUrl, workspaceId, accessToken, email, password }: Credentials,
  dataDir: string,
): string {
  return `
Signpost serves on ${baseUrl}

  workspace  ${workspaceId}
  member     ${email}, password ${password}
  token      ${accessToken}

These are shown once and kept in ${join(dataDir, "credentials.json")}. Make your first link:

${createLinkLine(baseUrl, accessToken)}

`;
}

/**
 * The text that later starts print, and the first one outside of a terminal, because kept output has many readers. The
 * command reads the token from the file that the first start wrote.
 */
export async function reminder(baseUrl: string, dataDir: string): Promise<string> {
  const file = join(dataDir, "credentials.json");
  const kept = await readFile(file, "utf8").catch(() => undefined);
  if (kept === undefined) return `\nSignpost serves on ${baseUrl}\n\n`;
  const token = `$(sed -n 's/.*"accessToken": "\\(.*\\)".*/\\1/p' '${file.replaceAll("'", "'\\''")}')`;
  return `\nSignpost serves on ${baseUrl}. The first credentials are in ${file}. Make a link:\n\n${createLinkLine(baseUrl, token)}\n\n`;
}

function createLinkLine(baseUrl: string, token: string): string {
  return `curl -s ${baseUrl}/v1/links -H "Authorization: Bearer ${token}" -H 'Content-Type: application/json' -d '{"destination":"https://example.com","waitForQrcode":true}'`;
}

// Two processes may start at once on one folder: the first one makes the file, and both read it.
async function writeOnce(file: string, text: string): Promise<void> {
  try {
    const handle = await open(file, "wx", 0o600);
    await handle.writeFile(`${text}\n`);
    await handle.sync();
    await handle.close();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}
