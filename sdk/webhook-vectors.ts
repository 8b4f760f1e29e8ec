/**
 * Messages of webhooks as the service signs them, and forged ones, with the verdict of a receiver: what the helpers of all
 * languages are tested with. `node sdk/webhook-vectors.ts` writes them to webhook-vectors.tsv.
 */
import { writeFileSync } from "node:fs";
import { webhookHeaders, webhookSecretText } from "../src/lib/standard-webhooks.ts";

const [present, previous, foreign] = [1, 2, 3].map((fill) => Buffer.alloc(32, fill)) as [
  Buffer,
  Buffer,
  Buffer,
];
const sentAt = 1_790_000_000;
const id = "msg_0199e6f0-0000-7000-8000-000000000001_0199e6a1-0000-7000-8000-000000000002";
const plain = '{"type":"webhook.test","timestamp":"2026-09-21T14:13:20Z","data":{}}';
const unicode = '{"type":"workflow_step.completed","data":{"visitor":{"name":"Zoë – 😀"}}}';

interface Vector {
  readonly name: string;
  readonly body?: string;
  /** The secrets that sign. */
  readonly secrets?: readonly Buffer[];
  /** The receiver's secret. */
  readonly secret?: Buffer;
  /** How many seconds after the attempt the receiver looks. */
  readonly after?: number;
  /** What is changed on the way. */
  readonly forged?: Readonly<Record<string, string>>;
  readonly isGenuine: boolean;
}

const vectors: readonly Vector[] = [
  { name: "a test message", isGenuine: true },
  { name: "a message with other letters", body: unicode, isGenuine: true },
  { name: "five minutes late", after: 300, isGenuine: true },
  { name: "five minutes early", after: -300, isGenuine: true },
  { name: "two secrets, the present one", secrets: [present, previous], isGenuine: true },
  { name: "two secrets, the previous one", secrets: [present, previous], secret: previous, isGenuine: true },
  { name: "two secrets, neither", secrets: [present, previous], secret: foreign, isGenuine: false },
  { name: "too late", after: 301, isGenuine: false },
  { name: "too early", after: -301, isGenuine: false },
  { name: "another secret", secret: foreign, isGenuine: false },
  { name: "another body", forged: { body: `${plain} ` }, isGenuine: false },
  { name: "another id", forged: { "webhook-id": `${id}0` }, isGenuine: false },
  { name: "another time", forged: { "webhook-timestamp": String(sentAt + 1) }, isGenuine: false },
  { name: "no time", forged: { "webhook-timestamp": "now" }, isGenuine: false },
  { name: "another scheme", forged: { "webhook-signature": `v2,${signatureOf(present)}` }, isGenuine: false },
  { name: "a scheme alone", forged: { "webhook-signature": "v1," }, isGenuine: false },
  { name: "no base64", forged: { "webhook-signature": "v1,***" }, isGenuine: false },
  { name: "a part of a signature", forged: { "webhook-signature": "v1,AAAA" }, isGenuine: false },
];

function signatureOf(secret: Buffer): string {
  const headers = webhookHeaders({ id, at: new Date(sentAt * 1000), body: plain }, [secret]);
  return headers["webhook-signature"]?.slice("v1,".length) ?? "";
}

/** The text of webhook-vectors.tsv, with a head line; payloads are base64. */
export function vectorsText(): string {
  const head = ["name", "secret", "id", "timestamp", "signature", "payload", "now", "verdict"];
  const rows = vectors.map(({ name, body = plain, secrets = [present], secret = present, ...rest }) => {
    const { after = 0, forged = {}, isGenuine } = rest;
    const signed = webhookHeaders({ id, at: new Date(sentAt * 1000), body }, secrets);
    const sent: Readonly<Record<string, string>> = { ...signed, body, ...forged };
    return [
      name,
      webhookSecretText(secret),
      ...[sent["webhook-id"], sent["webhook-timestamp"], sent["webhook-signature"]],
      Buffer.from(sent.body ?? "").toString("base64"),
      String(sentAt + after),
      isGenuine ? "genuine" : "forged",
    ];
  });
  return `${[head, ...rows].map((row) => row.join("\t")).join("\n")}\n`;
}

if (import.meta.main) writeFileSync(new URL("webhook-vectors.tsv", import.meta.url), vectorsText());
