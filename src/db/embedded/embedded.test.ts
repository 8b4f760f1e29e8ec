import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import pg from "pg";
import { pino } from "pino";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { type EmbeddedDatabase, startEmbedded } from "./embedded.ts";
import { canRead, packagedServer, runnableServer, serverAccount } from "./embedded-binaries.ts";

const log = pino({ level: "silent" });
const asRoot = process.getuid?.() === 0;
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signpost-test-"));
  await chmod(folder, 0o755);
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder with a cluster that was stopped; making it anew would take a second of the processor. */
const made = await mkdtemp(join(tmpdir(), "signpost-test-"));
await chmod(made, 0o755);
await (await startEmbedded({ dataDir: join(made, "stopped"), log })).stop();
copyMade(join(made, "shared"));
/** A server for tests that only ask. */
const shared = await startEmbedded({ dataDir: join(made, "shared"), log });
afterAll(async () => {
  await shared.stop();
  await rm(made, { recursive: true, force: true });
});

function copyMade(dataDir: string): void {
  execFileSync("cp", ["-a", join(made, "stopped"), dataDir]);
}

/** A folder of its own with a copy of the stopped cluster. */
async function madeFolder(): Promise<string> {
  const dataDir = join(await temporaryFolder(), "data");
  copyMade(dataDir);
  return dataDir;
}

async function start(dataDir: string): Promise<EmbeddedDatabase> {
  const database = await startEmbedded({ dataDir, log });
  cleanups.push(() => database.stop());
  return database;
}

async function ask(database: EmbeddedDatabase, sql: string): Promise<unknown[]> {
  const client = new pg.Client(database);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: "array" })).rows.flat();
  } finally {
    await client.end();
  }
}

async function postmasterOf(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, "postgres/postmaster.pid"), "utf8")).split("\n")[0]);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Another process that starts the database in `dataDir` and keeps it running. */
async function startService(dataDir: string, account: { uid?: number; gid?: number } = {}) {
  const script = `
    import { pino } from "pino";
    import { startEmbedded } from ${JSON.stringify(import.meta.resolve("./embedded.ts"))};
    const database = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log: pino({ level: "silent" }) });
    console.log(JSON.stringify(database));
  `;
  const service: ChildProcess = spawn(process.execPath, ["--input-type=module", "-e", script], {
    ...account,
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
  });
  cleanups.push(async () => {
    if (service.exitCode === null && service.signalCode === null) {
      const postmaster = await postmasterOf(dataDir).catch(() => undefined);
      service.kill("SIGKILL");
      await once(service, "exit");
      // The server ends after its service, and writes into its folder until then.
      if (postmaster !== undefined)
        await vi.waitFor(() => expect(isRunning(postmaster)).toBe(false), { timeout: 10_000 });
    }
  });
  const { stdout } = service;
  if (stdout === null) throw new Error("no output");
  const [line] = await once(createInterface({ input: stdout }), "line");
  return { service, database: JSON.parse(String(line)) as EmbeddedDatabase };
}

test("keeps rows over a restart, with every commit on disk", async () => {
  const dataDir = await madeFolder();
  const first = await startEmbedded({ dataDir, log });
  await ask(first, "create table kept as select 7 as value");
  expect(await ask(first, "select current_setting('fsync'), current_setting('synchronous_commit')")).toEqual([
    "on",
    "on",
  ]);
  expect(await ask(first, "show data_checksums")).toEqual(["on"]);
  await first.stop();
  const second = await start(dataDir);
  expect(await ask(second, "select value from kept")).toEqual([7]);
});

test("listens on no network address, and lets no other user in", async () => {
  expect(await ask(shared, "show listen_addresses")).toEqual([""]);
  expect(await ask(shared, "show data_directory_mode")).toEqual(["0700"]);
});

test("orders text by code point and knows letters beyond ASCII", async () => {
  expect(await ask(shared, "select v from (values ('b'), ('a'), ('B'), ('ä')) t(v) order by v")).toEqual([
    "B",
    "a",
    "b",
    "ä",
  ]);
  expect(await ask(shared, "select upper('äé'), current_setting('server_encoding')")).toEqual(["ÄÉ", "UTF8"]);
});

test("serves from a folder whose path is longer than a socket address", async () => {
  const folder = join(await temporaryFolder(), "long".repeat(20));
  const dataDir = join(folder, "path".repeat(20));
  await mkdir(folder);
  copyMade(dataDir);
  const database = await start(dataDir);
  expect(Buffer.byteLength(database.host)).toBeLessThan(80);
  expect(await ask(database, "select 1")).toEqual([1]);
});

test("stops by itself when the service is killed, and starts again after it", async () => {
  const dataDir = await madeFolder();
  const { service, database } = await startService(dataDir);
  await ask(database, "create table kept as select 7 as value");
  const postmaster = await postmasterOf(dataDir);
  service.kill("SIGKILL");
  await vi.waitFor(() => expect(isRunning(postmaster)).toBe(false), { timeout: 10_000, interval: 10 });
  expect(await ask(await start(dataDir), "select value from kept")).toEqual([7]);
});

test("starts while the server of a killed service is still ending", async () => {
  const dataDir = await madeFolder();
  const { service, database } = await startService(dataDir);
  await ask(database, "create table kept as select value from generate_series(1, 200000) value");
  service.kill("SIGKILL");
  const next = await start(dataDir);
  expect(await ask(next, "select count(*)::int from kept")).toEqual([200_000]);
});

test("comes back by itself, with every committed row, when the server is killed", async () => {
  const dataDir = await madeFolder();
  const database = await start(dataDir);
  await ask(database, "create table kept as select 7 as value");
  process.kill(await postmasterOf(dataDir), "SIGKILL");
  const rows = await vi.waitFor(() => ask(database, "select value from kept"), { timeout: 15_000 });
  expect(rows).toEqual([7]);
});

test("does not mistake the lock of a dead server for the process that has its number now", async () => {
  const dataDir = await madeFolder();
  const lock = join(dataDir, "postgres/postmaster.pid");
  await writeFile(lock, `${process.pid}\n${join(dataDir, "postgres")}\n1\n5432\n.\n\n0 0\nready\n`);
  const account = await serverAccount();
  if (account !== undefined) await chown(lock, account.uid, account.gid);
  expect(await ask(await start(dataDir), "select 1")).toEqual([1]);
});

test("shares the server of another process, and leaves it running", async () => {
  const guest = await startEmbedded({ dataDir: join(made, "shared"), log });
  expect(await ask(guest, "select 1")).toEqual([1]);
  await guest.stop();
  expect(await ask(shared, "select 1")).toEqual([1]);
});

test("reports the server's own words when it does not start", async () => {
  const dataDir = await madeFolder();
  await writeFile(join(dataDir, "postgres/PG_VERSION"), "9\n");
  await expect(startEmbedded({ dataDir, log })).rejects.toThrow(/incompatible with server/);
});

test("points to DATABASE_URL where no server is packaged", () => {
  expect(() => packagedServer("sunos", "x64")).toThrow(/sunos-x64.*DATABASE_URL/);
});

test("copies binaries that were unpacked without their links, and adds the links", async () => {
  const folder = await temporaryFolder();
  const native = join(folder, "package/native");
  await cp(dirname(packagedServer()), dirname(native), { recursive: true, verbatimSymlinks: true });
  const [link] = JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8"));
  await unlink(join(folder, "package", link.target));
  const copy = await runnableServer(native, undefined, [join(folder, "cache")]);
  expect(copy.startsWith(join(folder, "cache"))).toBe(true);
  expect(await canRead([join(copy, link.target.replace("native/", ""))], undefined)).toBe(true);
});

test.runIf(asRoot)("serves from inside a folder that only root can enter", async () => {
  const closed = await temporaryFolder();
  await chmod(closed, 0o700);
  const dataDir = join(closed, "data");
  const first = await startEmbedded({ dataDir, log });
  await ask(first, "create table kept as select 7 as value");
  await first.stop();
  expect(await ask(await start(dataDir), "select value from kept")).toEqual([7]);
});

test.runIf(asRoot)(
  "copies binaries that only root can read, and no cache that others can write",
  async () => {
    const closed = await temporaryFolder();
    await cp(dirname(packagedServer()), join(closed, "package"), { recursive: true, verbatimSymlinks: true });
    await chmod(closed, 0o700);
    const open = await temporaryFolder();
    const shared = join(open, "shared");
    await mkdir(shared);
    await chmod(shared, 0o777);
    const account = await serverAccount();
    const copy = await runnableServer(join(closed, "package/native"), account, [shared, join(open, "cache")]);
    expect(copy.startsWith(join(open, "cache"))).toBe(true);
    expect(await canRead([join(copy, "bin/initdb"), join(copy, "lib/libpq.so.5")], account)).toBe(true);
  },
);

/** PostgreSQL's first answer to a system user who claims to be `signpost`. */
async function greetingFor(host: string, { uid, gid }: { uid: number; gid: number }): Promise<string> {
  const script = `
    const body = Buffer.from("user\\0signpost\\0database\\0postgres\\0\\0");
    const head = Buffer.alloc(8);
    head.writeInt32BE(body.length + 8, 0);
    head.writeInt32BE(196608, 4);
    const socket = require("node:net").connect(process.argv[1] + "/.s.PGSQL.5432");
    socket.end(Buffer.concat([head, body]));
    let said = "";
    socket.on("data", (bytes) => { said += bytes.toString("latin1"); });
    socket.on("close", () => process.stdout.write(said));`;
  const child = spawn(process.execPath, ["-e", script, host], { uid, gid, cwd: "/", env: {} });
  return text(child.stdout);
}

test.runIf(asRoot)("as root, admits root and refuses the user that runs the server", async () => {
  const account = await serverAccount();
  if (account === undefined) throw new Error("root without an account for the server");
  expect(await greetingFor(shared.host, account)).toMatch(/^E.*28000/s);
  expect(await greetingFor(shared.host, { uid: 0, gid: 0 })).toMatch(/^R/);
  expect(await ask(shared, "select current_user::text")).toEqual(["signpost"]);
});

test.runIf(asRoot)("runs as the user of the service when that is not root", async () => {
  const dataDir = await temporaryFolder();
  const account = await serverAccount();
  if (account === undefined) throw new Error("root without an account for the server");
  await chown(dataDir, account.uid, account.gid);
  const { database } = await startService(dataDir, account);
  expect(await ask(database, "select 1")).toEqual([1]);
});
