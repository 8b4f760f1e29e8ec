import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { openSpool, type Spool } from "./spool.ts";

const directories: string[] = [];
const spools: Spool[] = [];
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const spool of spools.splice(0)) await spool.close();
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "spool-test-"));
  directories.push(directory);
  return directory;
}

async function open(directory: string): Promise<Spool> {
  const spool = await openSpool(directory);
  spools.push(spool);
  return spool;
}

function id(number: number): Uint8Array {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(number, 12);
  return bytes;
}

function numberOf(record: { id: Uint8Array }): number {
  return Buffer.from(record.id).readUInt32BE(12);
}

/** A process that appends records without end, 32 at a time, and writes the number of each acknowledged one on a line. */
async function startAppender(
  directory: string,
  shell = "exec",
): Promise<{ child: ChildProcess; lines: string[] }> {
  const program = `
    import { openSpool } from ${JSON.stringify(new URL("./spool.ts", import.meta.url).href)};
    const spool = await openSpool(${JSON.stringify(directory)});
    let next = 0;
    async function appendForever() {
      for (;;) {
        const number = next++;
        const id = Buffer.alloc(16);
        id.writeUInt32BE(number, 12);
        try { await spool.append(id, Buffer.alloc(300, number)); }
        catch (error) { process.stdout.write("rejected " + error.message + "\\n"); return; }
        process.stdout.write(number + "\\n");
      }
    }
    await Promise.all(Array.from({ length: 32 }, appendForever));
    process.stdout.write("depth " + spool.depth() + "\\n");
    await spool.close();`;
  const child = spawn(
    "sh",
    ["-c", `${shell} "$0" --input-type=module --eval "$1"`, process.execPath, program],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  children.push(child);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  await Promise.race([once(reader, "line"), once(child, "exit")]);
  return { child, lines };
}

async function waitForLines(
  appender: { child: ChildProcess; lines: string[] },
  count: number,
): Promise<void> {
  while (appender.lines.length < count && appender.child.exitCode === null) await new Promise(setImmediate);
}

async function killHard(child: ChildProcess): Promise<void> {
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}

test("gives back what was appended, sorted by id, until it is forgotten", async () => {
  const spool = await open(freshDirectory());
  await Promise.all([3, 1, 2].map((number) => spool.append(id(number), Buffer.from(`record ${number}`))));

  const records = await spool.read(10);
  expect(records.map((record) => Buffer.from(record.bytes).toString())).toEqual([
    "record 1",
    "record 2",
    "record 3",
  ]);
  expect((await spool.read(10)).map(numberOf)).toEqual([1, 2, 3]);
  expect(spool.depth()).toBe(3);

  await spool.forget(records);
  expect(await spool.read(10)).toEqual([]);
  expect(spool.depth()).toBe(0);
});

test("reads at least as many records as asked for while there are any", async () => {
  const spool = await open(freshDirectory());
  for (let number = 0; number < 20; number++) await spool.append(id(number), Buffer.of(number));
  expect((await spool.read(7)).map(numberOf)).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test("forgets single records of a group commit and gives the others again", async () => {
  const spool = await open(freshDirectory());
  await Promise.all([1, 2, 3].map((number) => spool.append(id(number), Buffer.of(number))));
  const records = await spool.read(10);
  await spool.forget(records.slice(0, 1));
  await spool.forget(records.slice(0, 1));
  expect((await spool.read(10)).map(numberOf)).toEqual([2, 3]);
  expect(spool.depth()).toBe(2);
  await spool.forget(await spool.read(10));
  expect(spool.depth()).toBe(0);
});

test("keeps records over a restart", async () => {
  const directory = freshDirectory();
  const before = await openSpool(directory);
  await before.append(id(7), Buffer.from("kept"));
  await before.close();
  const after = await open(directory);
  expect(after.depth()).toBe(1);
  expect((await after.read(1)).map(numberOf)).toEqual([7]);
});

test("finishes the appends on their way when it is closed and refuses later ones", async () => {
  const directory = freshDirectory();
  const spool = await openSpool(directory);
  const appended = spool.append(id(1), Buffer.of(1));
  await spool.close();
  await appended;
  await expect(spool.append(id(2), Buffer.of(2))).rejects.toThrow("closed");
  expect((await open(directory)).depth()).toBe(1);
});

test("refuses a record that does not fit into a commit", async () => {
  const spool = await open(freshDirectory());
  await expect(spool.append(id(1), Buffer.alloc(2 * 1024 * 1024))).rejects.toThrow("do not fit");
});

test("has every acknowledged record after kill -9", async () => {
  const directory = freshDirectory();
  for (const round of [1, 2]) {
    const appender = await startAppender(directory);
    await waitForLines(appender, 2_000 * round);
    await killHard(appender.child);

    const spool = await openSpool(directory);
    const records = await spool.read(1_000_000);
    const found = new Set(records.map(numberOf));
    expect(appender.lines.length).toBeGreaterThanOrEqual(2_000 * round);
    expect(appender.lines.filter((line) => !found.has(Number(line)))).toEqual([]);
    expect(
      records.every((record) => record.bytes.length === 300 && record.bytes[0] === numberOf(record) % 256),
    ).toBe(true);
    await spool.forget(records);
    await spool.close();
  }
});

test("tolerates a torn tail of the write-ahead log", async () => {
  const directory = freshDirectory();
  const appender = await startAppender(directory);
  await waitForLines(appender, 500);
  await killHard(appender.child);

  const log = join(directory, "spool-0.db-wal");
  const intact = readFileSync(log);
  writeFileSync(log, intact.subarray(0, intact.length - 1_000));
  const spool = await open(directory);
  const records = await spool.read(1_000_000);
  expect(records.length).toBeGreaterThan(0);
  expect(records.every((record) => record.bytes.length === 300)).toBe(true);
  await spool.append(id(9_999_999), Buffer.of(1));
  expect(spool.depth()).toBe(records.length + 1);
});

test("rejects appends on a full disk, keeps what it acknowledged, and does not hang", async () => {
  const directory = freshDirectory();
  // A limit on the size of files stands for the full disk: no file of the process grows beyond 1 MB.
  const appender = await startAppender(directory, "trap '' XFSZ; ulimit -f 2000; exec");
  await once(appender.child, "close");
  const acknowledged = appender.lines.filter((line) => /^\d+$/.test(line));
  expect(appender.lines.filter((line) => line.startsWith("rejected spool:"))).toHaveLength(32);
  expect(appender.lines).toContain(`depth ${acknowledged.length}`);

  const spool = await open(directory);
  const found = new Set((await spool.read(1_000_000)).map(numberOf));
  expect(acknowledged.filter((line) => !found.has(Number(line)))).toEqual([]);
});

test("leaves the records of a living process alone and takes over those of a dead one", async () => {
  const directory = freshDirectory();
  const appender = await startAppender(directory);
  const spool = await open(directory);
  await spool.append(id(1), Buffer.from("mine"));
  expect(await spool.adopt()).toBe(0);
  expect(await spool.read(1_000)).toHaveLength(1);

  await waitForLines(appender, 200);
  await killHard(appender.child);
  const adopted = await spool.adopt();
  expect(adopted).toBeGreaterThanOrEqual(200);
  expect(spool.depth()).toBe(adopted + 1);
  await spool.forget(await spool.read(1_000_000));
  expect(spool.depth()).toBe(0);
  expect(await spool.adopt()).toBe(0);
});

test("works beside a damaged file and names it", async () => {
  const directory = freshDirectory();
  writeFileSync(
    join(directory, "spool-0.db"),
    "this is no database, but it is long enough to look like one".repeat(20),
  );
  const spool = await open(directory);
  await spool.append(id(1), Buffer.of(1));
  expect(spool.unreadable()).toEqual([join(directory, "spool-0.db")]);
  expect(await spool.read(10)).toHaveLength(1);
});
