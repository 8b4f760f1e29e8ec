// @ts-check
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { taker } from "./handover.js";

/*
 * The disk side of the spool, on a thread of its own so that a slow fsync never holds up a visitor or an API call.
 * It is JavaScript because a second thread that has to strip types costs 18 MB and 40 ms (measured, Node 24).
 *
 * Files are slots (spool-0.db, spool-1.db, …). A process holds the exclusive lock of its slot for as long as it lives,
 * and the operating system drops that lock with the process, however it ends. An existing slot nobody has locked
 * is therefore the spool of a dead process: whoever finds it takes it over and drains it.
 */

/** @import { Chunk, DiskAnswer, DiskData, DiskRequest } from "./spool.ts" */
/** @import { StatementSync } from "node:sqlite" */
/**
 * @typedef {{
 *   number: number, database: DatabaseSync, insert: StatementSync, oldest: StatementSync,
 *   remove: StatementSync, count: StatementSync, some: StatementSync, freePages: StatementSync,
 * }} Slot
 */

/** SQLITE_BUSY: the slot belongs to a living process. */
const busy = 5;
/** SQLITE_CORRUPT and SQLITE_NOTADB: damaged beyond what the write-ahead log repairs by itself. */
const damage = new Set([11, 26]);
/** More slots than processes on one machine: beyond it something else is wrong. */
const slotCountMax = 1_000;
/**
 * An outage makes the file large. Above 100 MB of free pages, each forget gives 4 MB back, so that no forget stalls.
 */
const freePagesMax = 25_600;
const vacuumPages = 1_000;
/**
 * Long records, such as those of long workflows, are read in smaller batches, because a batch lies in memory until it
 * is stored.
 */
const readBytesMax = 16 * 1024 * 1024;

const { directory, handover } = /** @type {DiskData} */ (workerData);
/** @type {Map<number, Slot>} */
const inherited = new Map();
/** @type {Set<string>} */
const unreadable = new Set();

/**
 * Lock and open one slot; undefined when a living process has it or the file is damaged.
 * @param {number} number
 * @returns {Slot | undefined}
 */
function openSlot(number) {
  const path = join(directory, `spool-${number}.db`);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec(`
      pragma locking_mode = exclusive;
      pragma auto_vacuum = incremental;
      pragma journal_mode = wal;
      pragma synchronous = full;
      begin immediate;
      create table if not exists chunks (
        number integer primary key autoincrement, records integer not null, bytes blob not null
      ) strict;
      commit;
    `);
  } catch (error) {
    database.close();
    // node:sqlite puts SQLite's result code here; its upper bits say more than is needed.
    const code = Number(/** @type {{ errcode?: number }} */ (error).errcode) & 0xff;
    if (code === busy) return undefined;
    if (!damage.has(code)) throw error;
    unreadable.add(path);
    return undefined;
  }
  return {
    number,
    database,
    insert: database.prepare("insert into chunks (records, bytes) values (?, ?)"),
    oldest: database.prepare("select number, records, bytes from chunks order by number limit ?"),
    remove: database.prepare("delete from chunks where number = ? returning records"),
    count: database.prepare("select coalesce(sum(records), 0) as records from chunks"),
    some: database.prepare("select 1 from chunks limit 1"),
    freePages: database.prepare("pragma freelist_count"),
  };
}

function claimOwn() {
  mkdirSync(directory, { recursive: true });
  for (let number = 0; number < slotCountMax; number++) {
    const slot = openSlot(number);
    if (slot) return slot;
  }
  throw new Error(`no free slot for a spool in ${directory}`);
}

const own = claimOwn();

/** Take over every slot whose owner is gone; the number of records that came with them. */
function adopt() {
  let records = 0;
  unreadable.clear();
  for (const name of readdirSync(directory)) {
    const number = Number(/^spool-(\d+)\.db$/.exec(name)?.[1] ?? -1);
    if (number < 0 || number === own.number || inherited.has(number)) continue;
    const slot = openSlot(number);
    if (!slot) continue;
    inherited.set(number, slot);
    records += countRecords(slot);
    releaseIfEmpty(slot);
  }
  return records;
}

/** @param {Slot} slot */
function countRecords(slot) {
  return Number(slot.count.get()?.records);
}

/**
 * An emptied inheritance is unlocked but not unlinked: another process may be opening it at this moment.
 * @param {Slot} slot
 */
function releaseIfEmpty(slot) {
  if (slot === own || slot.some.get()) return;
  inherited.delete(slot.number);
  slot.database.close();
}

/**
 * Whole chunks, those of the dead first, until there are at least `limit` records or many bytes.
 * @param {number} limit
 * @returns {DiskAnswer}
 */
function read(limit) {
  /** @type {Chunk[]} */
  const chunks = [];
  let total = 0;
  let length = 0;
  for (const slot of [...inherited.values(), own]) {
    // A chunk holds at least one record, so one more than `limit` chunks are always enough.
    for (const row of slot.oldest.iterate(limit + 1)) {
      if (total >= limit || length >= readBytesMax) return { kind: "chunks", chunks, hasMore: true };
      const records = Number(row.records);
      const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (row.bytes); // The column is a strict blob.
      chunks.push({ slot: slot.number, number: Number(row.number), records, bytes });
      total += records;
      length += bytes.length;
    }
  }
  return { kind: "chunks", chunks, hasMore: false };
}

/**
 * The number of records that are gone now; those of chunks that were gone before do not count.
 * @param {number} slotNumber
 * @param {number[]} numbers
 */
function forget(slotNumber, numbers) {
  const slot = slotNumber === own.number ? own : inherited.get(slotNumber);
  if (!slot) return 0;
  let records = 0;
  slot.database.exec("begin immediate");
  try {
    for (const number of numbers) records += Number(slot.remove.get(number)?.records ?? 0);
    slot.database.exec("commit");
  } catch (error) {
    if (slot.database.isTransaction) slot.database.exec("rollback");
    throw error;
  }
  if (Number(slot.freePages.get()?.freelist_count) > freePagesMax) {
    slot.database.exec(`pragma incremental_vacuum(${vacuumPages})`);
  }
  releaseIfEmpty(slot);
  return records;
}

function close() {
  for (const slot of inherited.values()) slot.database.close();
  own.database.close();
}

/**
 * @param {Exclude<DiskRequest, { kind: "commit" }>} request
 * @returns {DiskAnswer}
 */
function perform(request) {
  switch (request.kind) {
    case "read":
      return read(request.limit);
    case "forget":
      return { kind: "forgotten", records: forget(request.slot, request.numbers) };
    case "adopt":
      return { kind: "adopted", records: adopt(), unreadable: [...unreadable] };
    case "close":
      close();
      return { kind: "done" };
  }
}

const port = parentPort;
if (!port) throw new Error("spool-worker runs as a worker thread");
const takeGroup = taker(handover);
let isCommitting = false;

/** Commits one group after the other until there is none. Other requests come in between. */
function commitGroups() {
  const group = takeGroup();
  isCommitting = group !== undefined;
  if (group === undefined) return;
  /** @type {DiskAnswer} */
  let answer = { kind: "committed" };
  try {
    own.insert.run(group.records, group.bytes);
  } catch (error) {
    answer = { kind: "refused", message: messageOf(error) };
  }
  group.release();
  port?.postMessage(answer);
  setImmediate(commitGroups);
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

port.on("message", (/** @type {DiskRequest} */ request) => {
  if (request.kind === "commit") {
    if (!isCommitting) commitGroups();
    return;
  }
  /** @type {DiskAnswer} */
  let answer;
  try {
    answer = perform(request);
  } catch (error) {
    answer = { kind: "failed", message: messageOf(error) };
  }
  // Blobs come out of SQLite in memory of their own, so they move to the other thread without a copy.
  port.postMessage(answer, answer.kind === "chunks" ? answer.chunks.map((chunk) => chunk.bytes.buffer) : []);
  if (request.kind === "close") port.close();
});
port.postMessage(/** @satisfies {DiskAnswer} */ ({ kind: "opened", records: countRecords(own) }));
// There is no group yet: the first record wakes this thread.
commitGroups();
