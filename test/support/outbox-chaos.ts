import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import type pg from "pg";
import type { Db } from "../../src/db/open.ts";
import { type Random, randomFrom } from "../fuzz/random.ts";
import { hangs, type Received, startReceiver, storeVisits, subscribe } from "./outbox.ts";
import type { TestLink } from "./start-scan.ts";

/*
 * Receivers that answer by a seeded plan, and senders that are killed again and again.
 */

export interface Chaos {
  readonly db: Db;
  readonly connection: pg.ConnectionConfig;
  /** Links of two workspaces: two of the first, and one of the second. */
  readonly links: readonly [TestLink, TestLink, TestLink];
  readonly visits: number;
  readonly kills: number;
  readonly seed: number;
}

export interface ChaosOutcome {
  /** What is wrong; empty when all is well. */
  readonly faults: readonly string[];
  readonly messages: Readonly<Record<string, number>>;
  readonly requests: number;
}

/** Far longer than a receiver on a busy machine takes to answer. */
const timeoutMs = 1_000;
/** How many answers never come, each of which takes that long. */
const hangingMax = 6;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const waits = [5_000, 5 * minuteMs, ...[0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs)];

/** The answers of a receiver that is up and down. Returns whether it accepts. */
function anyhow(random: Random, res: ServerResponse, mayHang: () => boolean): boolean {
  const choice = random.below(100);
  if (choice < 70) return true;
  if (choice < 78) res.statusCode = 500;
  else if (choice < 84) res.writeHead(429, { "retry-after": "2" });
  else if (choice < 88) res.writeHead(503, { "retry-after": "tomorrow" });
  else if (choice < 91 && mayHang()) res.statusCode = hangs;
  else if (choice < 95) {
    // Half of an answer.
    res.writeHead(200, { "content-length": "1000" });
    res.write("accep");
    res.destroy();
  } else res.writeHead(302, { location: "http://127.0.0.1:1/" });
  return false;
}

/** Sends about visits while receivers fail and senders are killed, and looks for what was lost or went astray. */
export async function runChaos({ db, connection, links, visits, kills, seed }: Chaos): Promise<ChaosOutcome> {
  const random = randomFrom(seed);
  const accepted = new Set<string>();
  const byPath = new Map<string, Received[]>();
  let hanging = 0;
  const mayHang = () => ++hanging <= hangingMax;
  const receiver = await startReceiver((message, res) => {
    const seen = byPath.get(message.path) ?? [];
    byPath.set(message.path, [...seen, message]);
    if (message.path === "/never") res.statusCode = 500;
    else if (message.path === "/gone" && seen.length >= 20) res.statusCode = 410;
    else if (anyhow(random, res, mayHang)) accepted.add(message.id);
  });
  let nowMs = Date.now();
  const [one, few, other] = links;
  const at = new Date(nowMs);
  const webhook = (link: TestLink, path: string, more: { triggers?: string[]; linkId?: string } = {}) =>
    subscribe(db, { workspaceId: link.workspaceId, endpointUrl: receiver.url + path, at, ...more });
  await webhook(one, "/all");
  await webhook(one, "/exits", { triggers: ["EXIT"] });
  await webhook(one, "/gone", { linkId: one.id });
  await webhook(few, "/never", { linkId: few.id });
  await webhook(other, "/other");

  const start = async (): Promise<ChildProcess> => {
    const file = new URL("sending-process.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, [file, JSON.stringify({ connection, nowMs, timeoutMs })], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    return child;
  };
  const senders = await Promise.all([start(), start()]);
  const advance = (ms: number) => {
    nowMs += ms;
    for (const { stdin } of senders) stdin?.write(`${nowMs}\n`);
  };
  /** Waits until the receiver has got so many more messages. Time goes on, because busy receivers ask for some. */
  const untilReceived = async (more: number) => {
    for (const most = receiver.received.length + more; receiver.received.length < most; advance(100))
      await pause(5);
  };
  try {
    await storeVisits(db, few, { count: 2, at });
    for (let kill = 0; kill < kills; kill++) {
      for (const link of [one, other]) {
        const count = Math.ceil(visits / kills / 2);
        await storeVisits(db, link, { count, at: new Date(nowMs) });
      }
      // In the midst of its sending.
      await untilReceived(1 + random.below(Math.ceil(visits / kills)));
      const victim = kill % senders.length;
      senders[victim]?.kill("SIGKILL");
      senders[victim] = await start();
      // What the dead one owned is free by now.
      advance(minuteMs);
    }
    for (const wait of waits) {
      await untilTried(db, nowMs, advance);
      // Jitter makes pauses up to a fifth longer.
      advance(1.25 * wait);
    }
    await untilTried(db, nowMs, advance);
    const faults = await faultsOf(db, { links, accepted, byPath, now: new Date(nowMs) });
    return { faults, messages: await countMessages(db, links), requests: receiver.received.length };
  } finally {
    for (const child of senders) child.kill("SIGKILL");
    receiver.close();
  }
}

/** Waits until every message that was due has been tried. Time goes on, because busy receivers ask for some. */
async function untilTried(db: Db, dueMs: number, advance: (ms: number) => void): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ left: number }>`select ((select count(*) from outbox_intake)
      + (select count(*) from outbox_messages m join outbox_subscribers s on s.workspace_id = m.workspace_id
        and s.id = m.subscriber_id where m.next_attempt_at <= ${new Date(dueMs)}))::int as left`.execute(db);
    if (rows[0]?.left === 0) return;
    await pause(20);
    advance(500);
  }
}

async function countMessages(db: Db, links: Chaos["links"]): Promise<Readonly<Record<string, number>>> {
  const { rows } = await sql<{ status: string; count: number }>`select status, count(*)::int as count
    from outbox_messages where workspace_id = any(${links.map(({ workspaceId }) => workspaceId)}) group by 1`.execute(
    db,
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

interface Seen {
  readonly links: Chaos["links"];
  readonly accepted: ReadonlySet<string>;
  readonly byPath: ReadonlyMap<string, readonly Received[]>;
  readonly now: Date;
}

async function faultsOf(db: Db, { links, accepted, byPath, now }: Seen): Promise<string[]> {
  const workspaces = [...new Set(links.map(({ workspaceId }) => workspaceId))];
  // Every step and webhook that the rules name, with its message.
  const { rows } = await sql<{
    path: string;
    workspace_id: string;
    subscriber: string;
    trace: string | null;
    id: string | null;
    status: string | null;
    disabled: boolean;
    attempts: number;
    tried: number;
    next_attempt_at: Date | null;
  }>`
    select regexp_replace(h.endpoint_url, '^http://[^/]*', '') as path, s.workspace_id, s.id as subscriber,
      t.id as trace, m.id, m.status, s.status = 'DISABLED' as disabled, m.attempts, m.next_attempt_at,
      (select count(*) from outbox_attempts a where a.workspace_id = m.workspace_id
        and a.subscriber_id = m.subscriber_id and a.message_id = m.id)::int as tried
    from outbox_subscribers s join webhooks h on h.workspace_id = s.workspace_id and h.id = s.id
    join events e on e.workspace_id = s.workspace_id and (s.link_id is null or s.link_id = e.link_id)
    join visit_traces t on t.workspace_id = e.workspace_id and t.event_id = e.id
      and (s.triggers = '{}' or t.step_action = 'CLIENT_REDIRECT')
    full join outbox_messages m on m.workspace_id = s.workspace_id and m.subscriber_id = s.id and m.id = t.id
    where coalesce(s.workspace_id, m.workspace_id) = any(${workspaces})`.execute(db);
  const faults: string[] = [];
  if (rows.length === 0) faults.push("there are no messages");
  const known = new Set<string>();
  for (const row of rows) {
    const name = `${row.path} ${row.trace}`;
    const id = `msg_${row.id}_${row.subscriber}`;
    known.add(id);
    if (row.trace === null) faults.push(`a message about nothing: ${id}`);
    else if (row.id === null) {
      if (!row.disabled) faults.push(`${name}: is missing`);
    } else if (row.tried !== row.attempts)
      faults.push(`${name}: ${row.attempts} attempts, ${row.tried} kept`);
    else if (row.status === "DELIVERED" && !accepted.has(id)) faults.push(`${name}: was not accepted`);
    else if (row.status === "WAITING" && (row.next_attempt_at ?? now) <= now)
      faults.push(`${name}: is overdue`);
    else if (row.status === "MISSED" && !row.disabled) faults.push(`${name}: was missed`);
    else if (row.status === "EXHAUSTED" && !row.disabled && row.attempts < 10)
      faults.push(`${name}: was given up after ${row.attempts} attempts`);
  }
  for (const [path, received] of byPath) {
    const own = rows.find((row) => row.path === path)?.workspace_id;
    for (const { id, body } of received) {
      const { event, trace, link, visitor } = JSON.parse(body).data;
      if (!known.has(id)) faults.push(`${path} got ${id}, which is not its own`);
      for (const one of [event, trace, visitor])
        if (one.workspaceId !== own) faults.push(`${path} got something of another workspace`);
      if (!links.some((some) => some.id === link.id && some.workspaceId === own))
        faults.push(`${path} got a link of another workspace`);
    }
  }
  return faults;
}
