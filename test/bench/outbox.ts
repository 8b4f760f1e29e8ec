import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { Pool } from "undici";
import { makeSecret } from "../../src/api/webhooks/secrets.ts";
import { createWebhookSender } from "../../src/api/webhooks/sender.ts";
import type { Db } from "../../src/db/open.ts";
import { createSafeFetch } from "../../src/lib/fetch/safe-fetch.ts";
import { newId } from "../../src/lib/ids.ts";
import { openOutbox } from "../../src/outbox/open-outbox.ts";
import { type Sending, startSending } from "../../src/outbox/send-loop.ts";
import { addSubscriber } from "../../src/outbox/subscribers.ts";
import { startPeer } from "./peer-process.ts";
import { atLeast, atMost, type Finding, told } from "./report.ts";
import { databaseOf, startServiceProcess } from "./service-process.ts";
import { openBenchStore } from "./storing.ts";
import { plainRecords } from "./storing-records.ts";
import { createLinks } from "./visits.ts";

/** How many webhooks get messages at the same time. Each has at most eight attempts under way. */
const webhooks = 4;

/**
 * Deliveries to a receiver on the same machine, signed and recorded, beside a bare undici loop that sends one text again
 * and again to the same receiver over as many connections.
 */
export async function outboxRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess({ env: { ROLES: "api" } });
  const receiver = await startPeer("http-receiver.ts");
  const { db, close } = openOutbox({
    connection: databaseOf(service.dataDir),
    statementTimeoutMs: 60_000,
    onError: () => {},
  });
  const visits = quick ? 2_000 : 10_000;
  const key = randomBytes(32);
  try {
    await createLinks(service);
    await subscribeAll(db, key, `http://127.0.0.1:${receiver.port}/`);
    const store = openBenchStore(service);
    await store.storeAll(await plainRecords(db, visits));
    await store.close();
    // Only a sandbox may send in clear.
    await sql`update workspaces set environment = 'test'`.execute(db);
    // Each visit has an entry and a redirect.
    const ours = await measureOurs(db, key, visits * 2 * webhooks);
    const peer = await measurePeer(receiver.port, visits * 2);
    return [
      atLeast("deliveries to webhooks, signed and recorded, beside a bare undici loop", {
        ours: ours.perSecond,
        peer: peer.perSecond,
        unit: "/s",
        budget: 0.5,
      }),
      told("  processor time of the sending process a delivery", {
        ours: ours.microseconds,
        unit: "µs",
        peer: `${peer.microseconds.toFixed(0)} µs`,
      }),
      atMost("  seconds for 1,000 deliveries", { ours: 1_000 / ours.perSecond, unit: "s", budget: 1 }),
    ];
  } finally {
    await close();
    await receiver.end();
    await service.remove();
  }
}

interface Speed {
  readonly perSecond: number;
  readonly microseconds: number;
}

async function measureOurs(db: Db, key: Uint8Array, messages: number): Promise<Speed> {
  const fetch = createSafeFetch({ allowedNetworks: ["127.0.0.0/8"] });
  const now = () => new Date();
  const sender = createWebhookSender({ db, now, fetch, key });
  const speed = await timed(messages, async () => {
    const sending = startSending({
      db,
      senders: { WEBHOOK: sender, SLACK: sender },
      shortUrl: "http://localhost",
      owner: randomUUID(),
      now,
      random: Math.random,
      onTrouble: (error) => process.stderr.write(`${error}\n`),
    });
    await delivered(sending, messages);
    await sending.stop(10_000);
  });
  await fetch.close();
  return speed;
}

async function delivered(sending: Sending, messages: number): Promise<void> {
  while (sending.counts.delivered < messages) {
    if (sending.counts.failed > 0) throw new Error("the receiver refused messages");
    await pause(10);
  }
}

async function measurePeer(port: number, messages: number): Promise<Speed> {
  const connections = webhooks * 8;
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  const body = "x".repeat(3_000);
  let left = messages;
  const speed = await timed(messages, async () => {
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (left-- > 0) {
          const answer = await pool.request({ method: "POST", path: "/", body });
          await answer.body.dump();
        }
      }),
    );
  });
  await pool.close();
  return speed;
}

async function timed(messages: number, run: () => Promise<void>): Promise<Speed> {
  const began = performance.now();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return {
    perSecond: (messages / (performance.now() - began)) * 1_000,
    microseconds: (user + system) / messages,
  };
}

async function subscribeAll(db: Db, key: Uint8Array, endpointUrl: string): Promise<void> {
  const { id: workspaceId } = await db.selectFrom("workspaces").select("id").executeTakeFirstOrThrow();
  const at = new Date();
  for (let made = 0; made < webhooks; made++) {
    const id = newId(at);
    await addSubscriber(db, {
      workspaceId,
      subscriberId: id,
      kind: "WEBHOOK",
      status: "ACTIVE",
      linkId: null,
      triggers: [],
      at,
    });
    const { sealed } = makeSecret(key, { workspace_id: workspaceId, id });
    await db
      .insertInto("webhooks")
      .values({
        workspace_id: workspaceId,
        id,
        name: "CRM",
        endpoint_url: endpointUrl,
        source: "API",
        secret: sealed,
        created_at: at,
        updated_at: at,
      })
      .execute();
  }
}
