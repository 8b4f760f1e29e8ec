import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { withoutEndSlashes } from "../lib/end-slashes.ts";
import { isJsonObject } from "./operations/flag-values.ts";
import { UsageError } from "./outcome.ts";

/** The address of a service and the token for it. */
export interface Connection {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly accessToken: string | undefined;
}

/** A connection that `login` stored. */
export interface Profile extends Connection {
  readonly accessToken: string;
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export const defaultBaseUrl = "http://localhost:8080";
export const defaultProfile = "default";

/** The path of `signpost/profiles.json` in the user's settings folder. */
export function profilesFile(env: EnvironmentVariables): string {
  const settings = given(env, "XDG_CONFIG_HOME") ?? join(given(env, "HOME") ?? homedir(), ".config");
  return join(settings, "signpost", "profiles.json");
}

/** Reads all stored profiles by name. Throws a UsageError when the file is damaged. */
export async function readProfiles(env: EnvironmentVariables): Promise<ReadonlyMap<string, Profile>> {
  const file = profilesFile(env);
  const profiles = new Map<string, Profile>();
  for (const [name, value] of Object.entries((await readJson(file)) ?? {})) {
    const profile = connectionIn(value);
    if (profile === undefined) throw new UsageError(`${file}: profile "${name}" is damaged; log in again`);
    profiles.set(name, profile);
  }
  return profiles;
}

/** Stores a profile, readable by the owner alone, in place of any profile of the same name. */
export async function keepProfile(env: EnvironmentVariables, name: string, profile: Profile): Promise<void> {
  const file = profilesFile(env);
  const { baseUrl, accessToken } = profile;
  const profiles = new Map<string, Profile>(await readProfiles(env)).set(name, { baseUrl, accessToken });
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // Written to a new file and moved: a reader never sees half a file, and an old file's looser mode does not remain.
  const aside = `${file}.${randomUUID()}`;
  await writeFile(aside, `${JSON.stringify(Object.fromEntries(profiles), undefined, 2)}\n`, { mode: 0o600 });
  await rename(aside, file);
}

/**
 * Chooses the service to call: the named profile, else SIGNPOST_URL and SIGNPOST_TOKEN, else the default profile, else
 * the first credentials in DATA_DIR, else a service on this machine without a token. A stored token is sent only to the
 * address that it was stored with.
 */
export async function findConnection(
  env: EnvironmentVariables,
  profileName: string | undefined,
): Promise<Connection> {
  if (profileName !== undefined) {
    const profile = (await readProfiles(env)).get(profileName);
    if (profile !== undefined) return profile;
    throw new UsageError(
      `there is no profile "${profileName}"; signpost login --profile ${profileName} makes it`,
    );
  }
  const url = given(env, "SIGNPOST_URL");
  const baseUrl = url === undefined ? undefined : parseBaseUrl(url, "SIGNPOST_URL");
  const accessToken = given(env, "SIGNPOST_TOKEN");
  if (baseUrl !== undefined && accessToken !== undefined) return { baseUrl, accessToken };
  const kept = (await readProfiles(env)).get(defaultProfile) ?? (await firstCredentials(env));
  if (accessToken !== undefined) return { baseUrl: kept?.baseUrl ?? defaultBaseUrl, accessToken };
  if (baseUrl !== undefined)
    return { baseUrl, accessToken: kept?.baseUrl === baseUrl ? kept.accessToken : undefined };
  return kept ?? { baseUrl: defaultBaseUrl, accessToken: undefined };
}

/** An address without a slash at its end. Throws a UsageError that names the source of a wrong one. */
export function parseBaseUrl(text: string, where: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw new UsageError(`${where} must be an address such as https://example.com`);
  return withoutEndSlashes(text);
}

async function firstCredentials(env: EnvironmentVariables): Promise<Profile | undefined> {
  return connectionIn(await readJson(join(given(env, "DATA_DIR") ?? "data", "credentials.json")));
}

function connectionIn(value: unknown): Profile | undefined {
  if (!isJsonObject(value)) return undefined;
  const { baseUrl, accessToken } = value;
  if (typeof baseUrl !== "string" || typeof accessToken !== "string" || !URL.canParse(baseUrl))
    return undefined;
  return { baseUrl: withoutEndSlashes(baseUrl), accessToken };
}

/** The object in a file; undefined when there is no such file. */
async function readJson(file: string): Promise<Record<string, unknown> | undefined> {
  try {
    const json: unknown = JSON.parse(await readFile(file, "utf8"));
    if (isJsonObject(json)) return json;
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UsageError(`${file} is damaged`);
}

function given(env: EnvironmentVariables, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}
