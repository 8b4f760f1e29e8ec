import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { type Received, startReceiver } from "./support/outbox.ts";
import { restApi } from "./support/rest-api.ts";
import { startService } from "./support/start-service.ts";

let service = await startService({ env: { ALLOWED_PRIVATE_NETWORKS: "127.0.0.0/8" } });
afterAll(() => service.stop());
const receiver = await startReceiver();
afterAll(() => receiver.close());

const stepsOf = (received: readonly Received[]) => new Set(received.map(({ id }) => id)).size;
const waitLong = { timeout: 300_000, interval: 50 };

/** Ends the time for which processes own lines, which the killed one will not extend. */
async function endLeases(): Promise<void> {
  const client = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await client.connect();
  await client.query("update outbox_lines set owned_until = now() - interval '1 second'");
  await client.end();
}

test("a running service tells webhooks of completed steps, also of those that it stored just before it was killed", async () => {
  const live = restApi(service.baseUrl, service.credentials.accessToken);
  // Only sandboxes may be told in clear.
  const { accessToken } = await live.call("POST", "/v1/sandboxes", { name: "Trial" });
  const sandbox = restApi(service.baseUrl, accessToken);
  await sandbox.call("POST", "/v1/webhooks", { endpointUrl: `${receiver.url}/hook`, name: "CRM" });
  const link = await sandbox.createLink();
  const visit = async () => {
    const headers = {
      "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    };
    const { status } = await fetch(`${service.baseUrl}/${link.shortlink}`, { redirect: "manual", headers });
    expect(status).toBe(302);
  };
  await visit();
  await expect.poll(() => stepsOf(receiver.received), waitLong).toBe(2);
  const [message] = receiver.received;
  expect(JSON.parse(message?.body ?? "")).toMatchObject({
    type: "workflow_step.completed",
    data: { event: { linkId: link.id }, link: { id: link.id } },
  });
  await expect
    .poll(async () => (await fetch(service.metricsUrl)).text(), waitLong)
    .toMatch(/signpost_outbox_attempts_total\{outcome="delivered"\} 2/);
  await visit();
  await service.kill("SIGKILL");
  await endLeases();
  service = await service.restart();
  await expect.poll(() => stepsOf(receiver.received), waitLong).toBe(4);
}, 900_000);
