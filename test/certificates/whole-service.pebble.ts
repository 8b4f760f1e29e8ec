import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { startNameServer } from "../support/name-server.ts";
import { eventually, startService } from "../support/start-service.ts";
import { freePort, startPebble } from "./pebble.ts";

const [httpPort, tlsPort] = [await freePort(), await freePort()];
const dns = await startNameServer();
const own = "signpost.example";
dns.zone.set(own, { A: ["127.0.0.1"] }).set(`domains.${own}`, { A: ["127.0.0.1"] });
const pebble = await startPebble({
  program: process.env.PEBBLE ?? "pebble",
  httpPort,
  tlsPort,
  dnsServer: dns.server,
  refusedNonces: 5,
});
afterAll(() => pebble.stop());
const folder = await mkdtemp(join(tmpdir(), "pebble-trust-"));
await writeFile(join(folder, "trust.pem"), pebble.trust);
const service = await startService({
  env: {
    PORT: String(tlsPort),
    HTTP_PORT: String(httpPort),
    BASE_URL: `https://${own}:${tlsPort}`,
    ACME_DIRECTORY: pebble.directory,
    DNS_SERVERS: dns.server,
    NODE_EXTRA_CA_CERTS: join(folder, "trust.pem"),
  },
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});
const root = await pebble.root();

interface Reply {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** Asks as a browser does that trusts the authority's root, and nobody else. */
async function ask(method: string, host: string, path: string, json?: object): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const headers = {
    host: host === own ? `${own}:${tlsPort}` : host,
    "content-type": "application/json",
    ...(host === own && { authorization: `Bearer ${service.credentials.accessToken}` }),
  };
  const options = { host: "127.0.0.1", port: tlsPort, servername: host, ca: root, agent: false, headers };
  const request = https.request({ ...options, method, path });
  request.on("error", reject).on("response", (answer) => {
    text(answer).then(
      (body) => resolve({ status: answer.statusCode, headers: answer.headers, body }),
      reject,
    );
  });
  request.end(json === undefined ? undefined : JSON.stringify(json));
  return promise;
}

test("a new service gets a certificate for its own host, and serves the API with it", async () => {
  const answer = await eventually(
    () => ask("GET", own, "/v1/links").catch(() => undefined),
    (reply) => reply !== undefined,
  );
  expect(answer?.status).toBe(200);
});

test("a customer's name becomes an https address of a short link, with nobody's help", async () => {
  const name = "go.customer.com";
  dns.zone.set(name, { CNAME: [`domains.${own}`], A: ["127.0.0.1"] });
  const created = await ask("POST", own, "/v1/custom-domains", { name });
  expect(created.status, created.body).toBe(200);
  const { id } = JSON.parse(created.body).customDomain;
  const instructions = await ask("GET", own, `/v1/custom-domains/${id}/validation_instructions`);
  const [proof] = JSON.parse(instructions.body).validations;
  dns.zone.set(proof.name, { TXT: [proof.value] });
  // One check in ten seconds.
  await pause(10_500);
  await ask("POST", own, `/v1/custom-domains/${id}/check`);
  const active = await eventually(
    async () => JSON.parse((await ask("GET", own, `/v1/custom-domains/${id}`)).body).customDomain,
    ({ status }) => status === "STATUS_ACTIVE",
  );
  expect(active).toMatchObject({ lastError: "", certificateExpiresAt: expect.any(String) });
  const order = { destination: "https://example.com/menu", customDomainId: id };
  const { link } = JSON.parse((await ask("POST", own, "/v1/links", order)).body);
  expect(link.entrypoint).toBe(`https://${name}/${link.shortlink}`);
  const redirect = await ask("GET", name, `/${link.shortlink}`);
  expect([redirect.status, redirect.headers.location]).toEqual([302, "https://example.com/menu"]);
  expect((await ask("GET", name, "/v1/links")).status).toBe(404);
  const request = http.get({
    port: httpPort,
    host: "127.0.0.1",
    path: `/${link.shortlink}`,
    headers: { host: name },
  });
  const plain = await new Promise<http.IncomingMessage>((resolve) => request.on("response", resolve));
  expect([plain.statusCode, plain.headers.location]).toEqual([308, link.entrypoint]);
  plain.resume();
});
