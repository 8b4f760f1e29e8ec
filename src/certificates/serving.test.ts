import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { text } from "node:stream/consumers";
import tls from "node:tls";
import { type KyselyPlugin, sql } from "kysely";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import { createCertificateMaker, type Life } from "../../test/support/certificate-maker.ts";
import { browse, insertWaitingDomain, keyBox, startServing } from "../../test/support/certificates.ts";
import { tickingClock } from "../../test/support/clock.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { tellDomainChange } from "../db/channels.ts";
import { listen } from "../server/listen.ts";
import { challengeCertificate } from "./acme/certificate-files.ts";
import { keepChallenge } from "./challenges.ts";
import { createStrangerLooks } from "./stranger-looks.ts";

const database = await testDatabase();
const { db } = database;
const maker = await createCertificateMaker();
const clock = tickingClock();
const { now } = clock;
const own = "signpost.example";
// Two processes on one database.
const one = await startServing(database, { now, ownNames: [own] });
const other = await startServing(database, { now, ownNames: [own] });
afterAll(() => Promise.all([one.close(), other.close()]));
await keepFor(own);

let made = 0;

/** A domain that is served with a certificate of the test's authority. */
async function servedDomain(life?: Life) {
  const domain = await insertWaitingDomain(database, `d${++made}.customer.example`, now());
  await setStatus(domain, "ACTIVE");
  await keepFor(domain.name, life);
  return domain;
}

async function keepFor(name: string, life?: Life): Promise<void> {
  const { cert, key } = await maker.sign([name], life);
  const { validFromDate, validToDate } = new X509Certificate(cert);
  const row = {
    chain: cert,
    private_key: keyBox.seal(key, name),
    not_before: validFromDate,
    not_after: validToDate,
    updated_at: now(),
  };
  await db
    .insertInto("certificates")
    .values({ ...row, name, created_at: now() })
    .onConflict((conflict) => conflict.column("name").doUpdateSet(row))
    .execute();
  await sql`select ${tellDomainChange(name)}`.execute(db);
}

async function setStatus(
  { workspaceId, id, name }: Awaited<ReturnType<typeof insertWaitingDomain>>,
  status: "ACTIVE" | "DOMAIN_PENDING",
): Promise<void> {
  await db
    .updateTable("custom_domains")
    .set({ status })
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .execute();
  await sql`select ${tellDomainChange(name)}`.execute(db);
}

interface Handshake {
  readonly names: string | undefined;
  readonly protocol: string | null;
  readonly isReused: boolean;
  readonly session: Buffer | undefined;
}

/** Shakes hands, and gives what the client then knows; rejects when the server refuses. */
function shake(port: number, options: tls.ConnectionOptions): Promise<Handshake> {
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>();
  const socket = tls.connect({
    port,
    host: "127.0.0.1",
    ca: maker.root,
    checkServerIdentity: () => undefined,
    ...options,
  });
  let session: Buffer | undefined;
  socket.on("session", (given) => {
    session = given;
  });
  socket.on("error", reject).on("close", () => reject(new Error("refused")));
  socket.on("secureConnect", () => {
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    // Tickets of TLS 1.3 come after the handshake.
    socket.resume().on("end", () => {
      const names = socket.getPeerCertificate().subjectaltname;
      resolve({ names, protocol: socket.getProtocol(), isReused: socket.isSessionReused(), session });
    });
  });
  return promise;
}

test("each name has its own certificate, over HTTP/1.1 and HTTP/2", async () => {
  const domains = [await servedDomain(), await servedDomain()];
  for (const { name } of domains) {
    expect(await browse(one.tlsPort, name, maker.root)).toMatchObject({ text: `1.1 ${name}` });
    const session = http2.connect(`https://${name}`, {
      ca: maker.root,
      createConnection: () =>
        tls.connect({
          port: one.tlsPort,
          host: "127.0.0.1",
          servername: name,
          ca: maker.root,
          ALPNProtocols: ["h2"],
        }),
    });
    expect(await text(session.request({ ":path": "/" }))).toBe(`2.0 ${name}:443`);
    session.destroy();
  }
});

test("names are read without case, and clients that name no host get the service's own certificate", async () => {
  const { name } = await servedDomain();
  const { names } = await shake(one.tlsPort, { servername: name.toUpperCase() });
  expect(names).toBe(`DNS:${name}`);
  expect((await shake(one.tlsPort, { servername: "" })).names).toBe(`DNS:${own}`);
  expect((await shake(one.tlsPort, { servername: own })).names).toBe(`DNS:${own}`);
});

test.each(["TLSv1.2", "TLSv1.3"] as const)(
  "%s is spoken, and goes on with earlier sessions",
  async (version) => {
    const { name } = await servedDomain();
    const only = { minVersion: version, maxVersion: version, servername: name };
    const first = await shake(one.tlsPort, only);
    expect(first).toMatchObject({ protocol: version, isReused: false });
    const second = await shake(one.tlsPort, { ...only, ...(first.session && { session: first.session }) });
    expect(second).toMatchObject({ protocol: version, isReused: true });
  },
);

test("TLS 1.1 is refused", async () => {
  const { name } = await servedDomain();
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
  await expect(shake(one.tlsPort, { ...old, servername: name })).rejects.toThrow();
});

test("a new certificate, and the end of a domain, reach every process", async () => {
  const domain = await servedDomain();
  const serials = async () => [
    (await browse(one.tlsPort, domain.name, maker.root)).serial,
    (await browse(other.tlsPort, domain.name, maker.root)).serial,
  ];
  const before = await serials();
  expect(before[0]).toBe(before[1]);
  await keepFor(domain.name);
  await expect.poll(async () => new Set([...before, ...(await serials())]).size).toBe(2);
  await expect.poll(async () => new Set(await serials()).size).toBe(1);
  await setStatus(domain, "DOMAIN_PENDING");
  for (const { tlsPort } of [one, other])
    await expect.poll(() => browse(tlsPort, domain.name, maker.root).catch(() => "refused")).toBe("refused");
});

test("a change that comes during a handshake does not end it", async () => {
  const { name } = await servedDomain();
  // As if every name were changed between the two looks of a handshake.
  const tls = { ...one.hosts, peek: () => undefined };
  const handler: http.RequestListener = (_req, res) => res.end("served");
  const port = await listen({ host: "127.0.0.1", port: 0, tls, handler, log: pino({ level: "silent" }) });
  try {
    expect(await browse(port.port, name, maker.root)).toMatchObject({ text: "served" });
  } finally {
    await port.close(0);
  }
});

test("a certificate is served until it expires, and not after", async () => {
  const at = now();
  const life = {
    notBefore: new Date(at.getTime() - 3_600_000),
    notAfter: new Date(at.getTime() + 7_200_000),
  };
  const { name } = await servedDomain(life);
  await expect
    .poll(() => shake(one.tlsPort, { servername: name }).catch(() => "refused"))
    .not.toBe("refused");
  clock.advance(3 * 3_600_000);
  await expect(shake(one.tlsPort, { servername: name })).rejects.toThrow();
  const later = await servedDomain();
  expect((await shake(one.tlsPort, { servername: later.name })).names).toBe(`DNS:${later.name}`);
});

test("bytes that are no TLS are sent away", async () => {
  const socket = net.connect(one.tlsPort, "127.0.0.1").on("error", () => {});
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  // The server may also reset the connection.
  const closed = Promise.withResolvers<void>();
  socket.on("close", () => closed.resolve());
  await closed.promise;
});

test("a challenge that one process began is answered by another, over TLS and over HTTP, until it is over", async () => {
  const { name } = await insertWaitingDomain(database, `d${++made}.customer.example`, now());
  const token = "a-token_of-the-authority";
  const authorization = `${token}.thumbprint`;
  const { chain, privateKey } = await challengeCertificate(name, authorization, now());
  await keepChallenge(
    db,
    { name, token, key_authorization: authorization, chain, private_key: privateKey },
    now(),
  );
  const answer = await plain(other.httpPort, name, `/.well-known/acme-challenge/${token}`);
  expect(answer).toMatchObject({ status: 200, body: authorization });
  expect(await plain(other.httpPort, own, `/.well-known/acme-challenge/${token}`)).toMatchObject({
    status: 308,
  });
  const socket = tls.connect({
    port: other.tlsPort,
    host: "127.0.0.1",
    servername: name,
    ALPNProtocols: ["acme-tls/1"],
    rejectUnauthorized: false,
  });
  await once(socket, "secureConnect");
  expect(socket.alpnProtocol).toBe("acme-tls/1");
  expect(socket.getPeerX509Certificate()?.subjectAltName).toBe(`DNS:${name}`);
  socket.destroy();
  await expect(shake(other.tlsPort, { servername: name })).rejects.toThrow();
  await expect(shake(other.tlsPort, { servername: own, ALPNProtocols: ["acme-tls/1"] })).rejects.toThrow();
});

test("in cleartext known names lead to https, and unknown ones nowhere", async () => {
  const { name } = await servedDomain();
  const path = "//evil.example/4BnH-R19p?qr&x=%0d%0a";
  expect(await plain(one.httpPort, name, path)).toMatchObject({
    status: 308,
    location: `https://${name}${path}`,
  });
  expect(await plain(one.httpPort, own, "/v1")).toMatchObject({ status: 308, location: `https://${own}/v1` });
  for (const host of ["nobody.example", "127.0.0.1", "a_b.example:80", "[::1]"])
    expect(await plain(one.httpPort, host, "/")).toMatchObject({ status: 404, location: undefined });
  expect(await plain(one.httpPort, "nobody.example", "/.well-known/acme-challenge/x")).toMatchObject({
    status: 404,
  });
});

test("names that nobody holds are refused, and a flood of them hardly reaches the database", async () => {
  const { name } = await servedDomain();
  let statements = 0;
  const counter: KyselyPlugin = {
    transformQuery({ node }) {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const flooded = await startServing({ ...database, db: db.withPlugin(counter) }, { now });
  try {
    await browse(flooded.tlsPort, name, maker.root);
    expect(statements).toBe(1);
    // What is known of the name is not trusted any more when the flood begins.
    clock.advance(11 * 60_000);
    for (let sent = 0; sent < 400; sent += 20) {
      const names = Array.from({ length: 20 }, (_, index) => `x${sent + index}.flood.example`);
      const shakes = await Promise.allSettled(
        names.map((servername) => shake(flooded.tlsPort, { servername })),
      );
      expect(shakes.filter(({ status }) => status === "fulfilled")).toEqual([]);
    }
    expect(statements).toBeLessThan(250);
    expect(await browse(flooded.tlsPort, name, maker.root)).toMatchObject({ text: `1.1 ${name}` });
  } finally {
    await flooded.close();
  }
});

test("a flood of unknown names by many clients closes the door to these only", () => {
  const looks = createStrangerLooks(db, () => 0);
  const flooding = Array.from({ length: 100 }, (_, index) => `192.0.2.${index}`);
  for (const address of flooding) for (let look = 0; look < 50; look++) looks.charge(address);
  expect(flooding.filter(looks.allows)).toEqual([]);
  expect(looks.allows("198.51.100.1")).toBe(true);
  looks.charge("198.51.100.1");
  expect(looks.allows("198.51.100.1")).toBe(false);
});

async function plain(port: number, host: string, path: string) {
  const request = http.request({ port, host: "127.0.0.1", path, headers: { host }, agent: false }).end();
  const [answer]: http.IncomingMessage[] = await once(request, "response");
  if (answer === undefined) throw new Error("there was no answer");
  return { status: answer.statusCode, location: answer.headers.location, body: await text(answer) };
}
