import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import type pg from "pg";
import { openOutbox } from "../../src/outbox/open-outbox.ts";
import { startSending } from "../../src/outbox/send-loop.ts";
import { plainSender } from "./outbox.ts";

/*
 * Sends what waits in the outbox, as a separate process, which tests kill:
 * `node sending-process.ts '{"connection":{…},"nowMs":…,"timeoutMs":…}'`. It prints a line when it has begun. A line of its
 * input is the time, in milliseconds, from which its clock goes on.
 */

interface Told {
  readonly connection: pg.ConnectionConfig;
  readonly nowMs: number;
  readonly timeoutMs: number;
}

const { connection, nowMs, timeoutMs }: Told = JSON.parse(process.argv[2] ?? "{}");
const { db } = openOutbox({ connection, statementTimeoutMs: 30_000, onError: () => {} });
let begun = { nowMs, at: performance.now() };
const sender = plainSender(db, { timeoutMs });
const sending = startSending({
  db,
  senders: { WEBHOOK: sender, SLACK: sender },
  shortUrl: "https://go.example",
  owner: randomUUID(),
  now: () => new Date(begun.nowMs + performance.now() - begun.at),
  random: Math.random,
  onTrouble: (error) => process.stderr.write(`${error}\n`),
  tickMs: 20,
});
createInterface({ input: process.stdin }).on("line", (line) => {
  begun = { nowMs: Number(line), at: performance.now() };
  sending.wake();
});
process.stdout.write("sending\n");
