import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import { loadPlan } from "../../src/db/load-plan.ts";
import type { Db } from "../../src/db/open.ts";
import { newId } from "../../src/lib/ids.ts";
import { compilePlan } from "../../src/model/workflow/plan.ts";
import type { Deliver, Sender } from "../../src/outbox/sender.ts";
import { addSubscriber, type NewSubscriber } from "../../src/outbox/subscribers.ts";
import { createClassifier } from "../../src/scan/device/classify.ts";
import { nowhere } from "../../src/scan/device/geography.ts";
import { encodeVisit } from "../../src/scan/spool/record-format.ts";
import { createVisitIds } from "../../src/scan/spool/visit-id.ts";
import { createRecordStore } from "../../src/scan/store/store-records.ts";
import { decide } from "../../src/workflow/decide.ts";
import { journeyOf } from "../../src/workflow/journey.ts";
import { askedNothing } from "./asked-nothing.ts";
import { chunkOf } from "./chunk-of.ts";
import type { TestLink } from "./start-scan.ts";

const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

/** Stores visits of a link, of a browser each, a millisecond apart, as the drain does. */
export async function storeVisits(
  db: Db,
  link: TestLink,
  {
    count,
    at,
    userAgent = iphone,
  }: { readonly count: number; readonly at: Date; readonly userAgent?: string },
): Promise<void> {
  const row = await loadPlan(db, link.host, link.shortlink);
  if (row === undefined) throw new Error("no such link");
  const plan = compilePlan(row, `https://go.example/${link.shortlink}`);
  const newVisitId = createVisitIds();
  const store = createRecordStore(db, {
    classify: createClassifier(),
    geography: { placeOf: () => nowhere },
    key: "00".repeat(32),
  });
  const records = Array.from({ length: count }, (_, index) => {
    const atMs = at.getTime() - count + index;
    const id = newVisitId(atMs);
    const walk = decide(plan, askedNothing, new Date(atMs));
    const visit = {
      id,
      action: "CLICK" as const,
      level: "ADVANCED" as const,
      headers: { "user-agent": userAgent, "accept-language": "de" },
      address: "81.2.3.4",
      cookie: randomUUID(),
      cookieWasSent: false,
      query: "",
    };
    return { id, text: encodeVisit(plan, visit, walk, journeyOf(plan, walk)) };
  });
  for (let start = 0; start < count; start += 2_000) {
    const { poison, early } = await store([chunkOf(records.slice(start, start + 2_000))], at);
    if (poison.length + early.length > 0) throw new Error("some visits were not stored");
  }
}

export interface Subscription
  extends Partial<Pick<NewSubscriber, "linkId" | "triggers" | "status" | "kind">> {
  readonly workspaceId: string;
  readonly endpointUrl: string;
  readonly at: Date;
}

/** Adds a webhook as its operation does. */
export async function subscribe(db: Db, subscription: Subscription): Promise<string> {
  const { workspaceId, endpointUrl, at, linkId = null, triggers = [], status = "ACTIVE" } = subscription;
  const { kind = "WEBHOOK" } = subscription;
  const subscriberId = newId(at);
  await addSubscriber(db, { workspaceId, subscriberId, kind, status, linkId, triggers, at });
  await sql`insert into webhooks (workspace_id, id, name, endpoint_url, source, secret, created_at, updated_at)
    values (${workspaceId}, ${subscriberId}, 'CRM', ${endpointUrl}, 'API', '', ${at}, ${at})`.execute(db);
  return subscriberId;
}

/** A sender of JSON to the addresses of webhooks, without signatures. */
export function plainSender(
  db: Db,
  { timeoutMs, pace }: { readonly timeoutMs: number; readonly pace?: Partial<Sender["pace"]> | undefined },
): Sender {
  return {
    pace: { inFlightMax: 8, ...pace },
    async open(subscribers) {
      const ids = subscribers.map(({ subscriberId }) => subscriberId);
      const { rows } = await sql<{ id: string; endpoint_url: string }>`select id, endpoint_url from webhooks
        where id = any(${ids})`.execute(db);
      return new Map(rows.map((row) => [row.id, deliverTo(row.endpoint_url, timeoutMs)]));
    },
  };
}

function deliverTo(address: string, timeoutMs: number): Deliver {
  return async ({ id, subscriberId, body }, signal) => {
    try {
      const answer = await fetch(address, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", "webhook-id": `msg_${id}_${subscriberId}` },
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      const { status } = answer;
      const response = await answer.text();
      if (answer.ok) return { isDelivered: true, status, response };
      const asked = Number(answer.headers.get("retry-after") ?? 0) * 1_000;
      const retryAfterMs = status === 429 || status === 503 ? asked : 0;
      const reason = `The receiver answered ${status}.`;
      return { isDelivered: false, status, response, reason, retryAfterMs, isFinal: status === 410 };
    } catch {
      return { isDelivered: false, status: undefined, response: "", reason: "The receiver did not answer." };
    }
  };
}

/** A message as a receiver got it. */
export interface Received {
  readonly path: string;
  readonly id: string;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  close(): void;
}

/** Starts a receiver that answers each message as `answer` says, 204 when it does nothing. */
export async function startReceiver(
  answer: (message: Received, res: ServerResponse, number: number) => void = () => {},
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (req: IncomingMessage, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const message = {
      path: req.url ?? "",
      id: String(req.headers["webhook-id"]),
      body: Buffer.concat(chunks).toString(),
    };
    received.push(message);
    res.statusCode = 204;
    answer(message, res, received.length);
    if (!res.writableEnded && res.statusCode !== hangs) res.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // a TCP server's address is an AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** With this status, an answer of `startReceiver` never comes. */
export const hangs = 299;
