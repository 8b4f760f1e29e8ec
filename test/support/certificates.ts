import https from "node:https";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import type { CertificateDeps } from "../../src/certificates/deps.ts";
import { type HostCertificates, openHostCertificates } from "../../src/certificates/host-certificates.ts";
import { createKeyBox } from "../../src/certificates/key-box.ts";
import { createOrdering } from "../../src/certificates/order-due.ts";
import { wantCertificate } from "../../src/certificates/want-certificate.ts";
import type { CertificateDesk } from "../../src/domains/certificates.ts";
import { settleDomain } from "../../src/domains/settle.ts";
import { newId } from "../../src/lib/ids.ts";
import { faultlessly } from "../../src/server/faultless.ts";
import { listen } from "../../src/server/listen.ts";
import { plainHandler } from "../../src/server/names/plain-handler.ts";
import { insertWorkspace } from "./start-scan.ts";
import type { TestDatabase } from "./test-database.ts";

const log = pino({ level: "silent" });
export const keyBox = createKeyBox(Buffer.alloc(32, 7));

/** A process that serves names over TLS, and answers challenges. */
export interface ServingProcess {
  readonly hosts: HostCertificates;
  readonly tlsPort: number;
  readonly httpPort: number;
  close(): Promise<void>;
}

/** Starts what a process of the service does for names, with its own connections to the database. */
export async function startServing(
  { db, connection }: TestDatabase,
  options: {
    readonly now: () => Date;
    readonly tlsPort?: number;
    readonly httpPort?: number;
    readonly ownNames?: string[];
  },
): Promise<ServingProcess> {
  const { now, ownNames = [] } = options;
  const hosts = await openHostCertificates({
    db,
    connection,
    keyBox,
    now,
    ownNames,
    ownPair: undefined,
    onTrouble: () => {},
    // A busy machine answers late.
    lookMs: 30_000,
  });
  const secure = await listen({
    host: "127.0.0.1",
    port: options.tlsPort ?? 0,
    tls: hosts,
    handler: (req, res) => res.end(`${req.httpVersion} ${req.headers.host ?? req.headers[":authority"]}`),
    log,
  });
  const plain = await listen({
    host: "127.0.0.1",
    port: options.httpPort ?? 0,
    handler: faultlessly(log)(
      plainHandler({
        ownAddresses: ownNames.map((name) => `https://${name}`),
        findAuthorization: hosts.findAuthorization,
        isServed: async (name, address) => (await hosts.find(name, address)) !== undefined,
      }),
    ),
    log,
  });
  return {
    hosts,
    tlsPort: secure.port,
    httpPort: plain.port,
    close: async () => {
      await Promise.all([secure.close(0), plain.close(0), hosts.close()]);
    },
  };
}

/** How domains get their certificates from the job below. */
export function testDesk(now: () => Date): CertificateDesk {
  return {
    needed: true,
    caaIdentities: async () => [],
    order: (tx, { name }) => wantCertificate(tx, name, now()),
  };
}

export type OrderingOptions = Pick<CertificateDeps, "now" | "config"> & Partial<CertificateDeps>;

/** The job that orders certificates, as one process runs it. */
export function testOrdering(
  { db }: Pick<TestDatabase, "db">,
  options: OrderingOptions,
): () => Promise<void> {
  const { now } = options;
  const certificates = testDesk(now);
  const order = createOrdering({
    db,
    keyBox,
    ownNames: [],
    kinds: ["http-01", "tls-alpn-01"],
    settle: (tx, holder, learned) => settleDomain(tx, { certificates, now }, holder, learned),
    log,
    ...options,
  });
  return () => order(new AbortController().signal);
}

/** Inserts a domain whose DNS is right, and which waits for its certificate. */
export async function insertWaitingDomain({ db }: Pick<TestDatabase, "db">, name: string, at: Date) {
  const workspaceId = await insertWorkspace(db);
  const id = newId(at);
  await db
    .insertInto("custom_domains")
    .values({
      workspace_id: workspaceId,
      id,
      name,
      status: "CERTIFICATE_PENDING",
      points_here: true,
      verified_at: at,
      last_checked_at: at,
      created_at: at,
      updated_at: at,
    })
    .execute();
  await db
    .insertInto("domain_names")
    .values({ name, workspace_id: workspaceId, custom_domain_id: id })
    .execute();
  await wantCertificate(db, name, at);
  const read = () =>
    db
      .selectFrom("custom_domains")
      .select(["status", "last_error", "certificate_expires_at"])
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  return { workspaceId, id, name, read };
}

/** What a browser gets that trusts only `ca`: the answer's text, and the certificate it saw. */
export async function browse(port: number, name: string, ca: string) {
  const { promise, resolve, reject } = Promise.withResolvers<{ text: string; serial: string }>();
  const request = https.request({
    port,
    host: "127.0.0.1",
    servername: name,
    ca,
    agent: false,
    headers: { host: name },
  });
  request.on("error", reject).on("response", (answer) => {
    const socket = answer.socket;
    const serial =
      "getPeerCertificate" in socket
        ? (socket as import("node:tls").TLSSocket).getPeerCertificate().serialNumber
        : "";
    let body = "";
    answer.setEncoding("utf8").on("data", (said: string) => {
      body += said;
    });
    answer.on("end", () => resolve({ text: body, serial })).on("error", reject);
  });
  request.end();
  return promise;
}

/** Closes a process after the test. */
export function closedAfterTest(serving: ServingProcess): ServingProcess {
  onTestFinished(() => serving.close());
  return serving;
}
