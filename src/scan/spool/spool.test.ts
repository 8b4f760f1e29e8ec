import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { type RawRecord, type RecordText, unframe } from "./framed-records.ts";
import { type Batch, openSpool, type Spool } from "./spool.ts";

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

function recordsOf({ chunks }: Batch): RawRecord[] {
  return chunks.flatMap(({ bytes }) => unframe(bytes));
}

/** A record that has nothing in common with others. */
function alone(own: string): RecordText {
  return { own, shared: "" };
}

function numbersOf(batch: Batch): number[] {
  return recordsOf(batch).map(numberOf);
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
        try { await spool.append(id, { own: String.fromCharCode(number % 128).repeat(300), shared: "" }); }
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

test("gives back what was appended, in its order, until it is forgotten", async () => {
  const spool = await open(freshDirectory());
  await Promise.all([1, 2, 3].map((number) => spool.append(id(number), alone(`réçørd ${number} ✓`))));

  const batch = await spool.read(10);
  expect(batch).toMatchObject({ records: 3, hasMore: false });
  expect(recordsOf(batch).map(({ own }) => Buffer.from(own).toString())).toEqual([
    "réçørd 1 ✓",
    "réçørd 2 ✓",
    "réçørd 3 ✓",
  ]);
  expect(numbersOf(await spool.read(10))).toEqual([1, 2, 3]);
  expect(spool.depth()).toBe(3);

  await spool.forget(batch);
  expect(await spool.read(10)).toEqual({ chunks: [], records: 0, hasMore: false });
  expect(spool.depth()).toBe(0);
});

test("reads at least as many records as asked for while there are any", async () => {
  const spool = await open(freshDirectory());
  for (let number = 0; number < 20; number++) await spool.append(id(number), alone(String(number)));
  const batch = await spool.read(7);
  expect(numbersOf(batch)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(batch.hasMore).toBe(true);
  expect((await spool.read(20)).hasMore).toBe(false);
});

test("keeps once what records of a commit share, and gives it back with each of them", async () => {
  const spool = await open(freshDirectory());
  const [way, other] = ["\nå way".repeat(1_000), "\nanother"];
  const texts = [way, "", way, other, way, other].map((shared, number) => ({
    own: `record ${number}`,
    shared,
  }));
  await Promise.all(texts.map((text, number) => spool.append(id(number), text)));
  const batch = await spool.read(10);
  const read = (text: Uint8Array | undefined) => Buffer.from(text ?? []).toString();
  expect(recordsOf(batch).map(({ own, shared }) => ({ own: read(own), shared: read(shared) }))).toEqual(
    texts,
  );
  expect(batch.chunks.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(
    2 * Buffer.byteLength(way),
  );
});

test("reads fewer records at a time when they are long", async () => {
  const spool = await open(freshDirectory());
  const text = "x".repeat(1_000_000);
  for (let number = 0; number < 20; number++) await spool.append(id(number), alone(text));
  const batch = await spool.read(100);
  expect(batch).toMatchObject({ records: 17, hasMore: true });
  await spool.forget(batch);
  expect(await spool.read(100)).toMatchObject({ records: 3, hasMore: false });
});

test("forgets a batch once, whatever came behind it", async () => {
  const spool = await open(freshDirectory());
  await Promise.all([1, 2].map((number) => spool.append(id(number), alone("together"))));
  const batch = await spool.read(10);
  await spool.append(id(3), alone("alone"));
  await spool.forget(batch);
  await spool.forget(batch);
  expect(spool.depth()).toBe(1);
  expect(numbersOf(await spool.read(10))).toEqual([3]);
});

test("takes each record of many appenders once, in the order of each", async () => {
  const spool = await open(freshDirectory());
  const [appenders, each] = [40, 100];
  const appendInTurn = async (first: number) => {
    for (let number = 0; number < each; number++) {
      await spool.append(id(first + number), {
        own: String(number),
        shared: number % 3 === 0 ? "\nway" : "",
      });
      // Some come in the turn in which the commit before ends, others later.
      if (number % 5 === first % 5) await new Promise(setImmediate);
    }
  };
  await Promise.all(Array.from({ length: appenders }, (_, index) => appendInTurn(index * each)));
  const numbers = numbersOf(await spool.read(1_000_000));
  expect(numbers.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: appenders * each }, (_, number) => number),
  );
  const places = new Map(numbers.map((number, place) => [number, place]));
  const late = numbers.filter(
    (number) => number % each > 0 && (places.get(number - 1) ?? 0) > (places.get(number) ?? 0),
  );
  expect(late).toEqual([]);
  expect(spool.depth()).toBe(appenders * each);
});

test("keeps records over a restart", async () => {
  const directory = freshDirectory();
  const before = await openSpool(directory);
  await before.append(id(7), alone("kept"));
  await before.close();
  const after = await open(directory);
  expect(after.depth()).toBe(1);
  expect(numbersOf(await after.read(1))).toEqual([7]);
});

test("finishes the appends on their way when it is closed and refuses later ones", async () => {
  const directory = freshDirectory();
  const spool = await openSpool(directory);
  const appended = spool.append(id(1), alone("1"));
  await spool.close();
  await appended;
  await expect(spool.append(id(2), alone("2"))).rejects.toThrow("closed");
  expect((await open(directory)).depth()).toBe(1);
});

test("refuses a record that does not fit into a commit", async () => {
  const spool = await open(freshDirectory());
  await expect(spool.append(id(1), alone("x".repeat(2 * 1024 * 1024)))).rejects.toThrow("do not fit");
});

test("has every acknowledged record after kill -9", async () => {
  const directory = freshDirectory();
  for (const round of [1, 2]) {
    const appender = await startAppender(directory);
    await waitForLines(appender, 2_000 * round);
    await killHard(appender.child);

    const spool = await openSpool(directory);
    const batch = await spool.read(1_000_000);
    const records = recordsOf(batch);
    const found = new Set(records.map(numberOf));
    expect(appender.lines.length).toBeGreaterThanOrEqual(2_000 * round);
    expect(appender.lines.filter((line) => !found.has(Number(line)))).toEqual([]);
    expect(
      records.every((record) => record.own.length === 300 && record.own[0] === numberOf(record) % 128),
    ).toBe(true);
    await spool.forget(batch);
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
  const records = recordsOf(await spool.read(1_000_000));
  expect(records.length).toBeGreaterThan(0);
  expect(records.every((record) => record.own.length === 300)).toBe(true);
  await spool.append(id(9_999_999), alone("1"));
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
  const found = new Set(numbersOf(await spool.read(1_000_000)));
  expect(acknowledged.filter((line) => !found.has(Number(line)))).toEqual([]);
});

test("leaves the records of a living process alone and takes over those of a dead one", async () => {
  const directory = freshDirectory();
  const appender = await startAppender(directory);
  const spool = await open(directory);
  await spool.append(id(1), alone("mine"));
  expect(await spool.adopt()).toBe(0);
  expect(numbersOf(await spool.read(1_000))).toEqual([1]);

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
  await spool.append(id(1), alone("1"));
  expect(spool.unreadable()).toEqual([join(directory, "spool-0.db")]);
  expect(numbersOf(await spool.read(10))).toEqual([1]);
});
