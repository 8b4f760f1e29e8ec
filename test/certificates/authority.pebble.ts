import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { afterAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { createAuthority } from "../../src/certificates/acme/authority.ts";
import { openAccountKey } from "../../src/certificates/acme/keys.ts";
import {
  browse,
  insertWaitingDomain,
  keyBox,
  type OrderingOptions,
  startServing,
  testOrdering,
} from "../support/certificates.ts";
import { tickingClock } from "../support/clock.ts";
import { startNameServer } from "../support/name-server.ts";
import { testDatabase } from "../support/test-database.ts";
import { freePort, startPebble } from "./pebble.ts";

const database = await testDatabase();
const { db } = database;
const [hourMs, dayMs] = [3_600_000, 86_400_000];

const { server: dnsServer, zone } = await startNameServer();
const [httpPort, tlsPort] = [await freePort(), await freePort()];
const pebble = await startPebble({
  program: process.env.PEBBLE ?? "pebble",
  httpPort,
  tlsPort,
  dnsServer,
  refusedNonces: 5,
});
afterAll(() => pebble.stop());
tls.setDefaultCACertificates([...tls.getCACertificates("default"), pebble.trust]);
const root = await pebble.root();

/** The time of the running test, and a process that serves names. Their certificates are ordered by others. */
let time = tickingClock();
const now = () => time.now();

beforeEach(async () => {
  time = tickingClock();
  const serving = await startServing(database, { now, httpPort, tlsPort });
  return () => serving.close();
});

const here = { A: ["127.0.0.1"] };
let made = 0;

/** A new name, which leads here. */
function newName(): string {
  const name = `d${++made}.customer.example`;
  zone.set(name, here);
  return name;
}

function ordering(options: Partial<OrderingOptions> = {}) {
  const config = { directories: [pebble.directory], email: "owner@example.com", profile: undefined };
  return testOrdering(database, { now, config, ...options });
}

const signedSoFar = () => pebble.output().split("Issued certificate serial").length - 1;

/** Waits until the serving process has heard of the certificate. */
async function served(name: string): Promise<string> {
  await expect.poll(() => browse(tlsPort, name, root).catch(String)).toMatchObject({ text: `1.1 ${name}` });
  return (await browse(tlsPort, name, root)).serial;
}

async function activeDomain() {
  const domain = await insertWaitingDomain(database, newName(), now());
  await ordering()();
  expect(await domain.read()).toMatchObject({ status: "ACTIVE", last_error: "" });
  return domain;
}

test.each(["http-01", "tls-alpn-01"] as const)(
  "a waiting domain becomes one that browsers trust by %s, which another process answers",
  async (kind) => {
    const domain = await insertWaitingDomain(database, newName(), now());
    await expect(browse(tlsPort, domain.name, root)).rejects.toThrow();
    await ordering({ kinds: [kind] })();
    expect(await domain.read()).toMatchObject({ status: "ACTIVE", last_error: "" });
    await served(domain.name);
    const plain = await fetch(`http://127.0.0.1:${httpPort}/4BnH-R19p?qr`, {
      headers: { host: domain.name },
      redirect: "manual",
    });
    // fetch sends its own Host; the name that it knows is no name of the service.
    expect(plain.status).toBe(404);
    await expect.poll(() => db.selectFrom("certificate_challenges").selectAll().execute()).toEqual([]);
  },
);

test("all of twenty names get certificates while three in ten of their validations fail", async () => {
  const names = Array.from({ length: 20 }, newName);
  const domains = await Promise.all(names.map((name) => insertWaitingDomain(database, name, now())));
  let failed = 0;
  let seed = 42;
  for (let round = 0; round < 12; round++) {
    for (const name of names) {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      zone.set(name, seed / 2 ** 31 < 0.3 ? "failed" : here);
    }
    await ordering()();
    for (const domain of domains) {
      const { status, last_error: fault } = await domain.read();
      if (status === "ACTIVE") continue;
      failed += 1;
      expect(fault).toMatch(/^The certificate authority could not reach the name \((http|tls-alpn)-01\): /);
    }
    time.advance(hourMs);
  }
  expect(failed).toBeGreaterThan(0);
  for (const domain of domains)
    expect(await domain.read()).toMatchObject({ status: "ACTIVE", last_error: "" });
});

test("a certificate is renewed at two thirds of its life, and before that when its authority says so", async () => {
  const domain = await activeDomain();
  const first = await served(domain.name);
  time.advance(40 * dayMs);
  await ordering()();
  expect(await served(domain.name)).toBe(first);
  time.advance(22 * dayMs);
  await ordering()();
  await expect.poll(() => served(domain.name)).not.toBe(first);
  const second = await served(domain.name);
  const { chain } = await db
    .selectFrom("certificates")
    .select("chain")
    .where("name", "=", domain.name)
    .executeTakeFirstOrThrow();
  await pebble.setRenewalWindow(chain ?? "", {
    start: new Date(now().getTime() - 2 * dayMs).toISOString(),
    end: new Date(now().getTime() - dayMs).toISOString(),
  });
  time.advance(dayMs);
  await ordering()();
  await expect.poll(() => served(domain.name)).not.toBe(second);
  expect(await domain.read()).toMatchObject({ status: "ACTIVE", last_error: "" });
});

test("two processes that renew at once order once", async () => {
  const domains = await Promise.all(
    Array.from({ length: 10 }, () => insertWaitingDomain(database, newName(), now())),
  );
  const before = signedSoFar();
  await Promise.all([ordering()(), ordering()()]);
  for (const domain of domains) expect(await domain.read()).toMatchObject({ status: "ACTIVE" });
  expect(signedSoFar() - before).toBe(domains.length);
});

test("an account that the authority has closed, or does not know, is replaced by another one", async () => {
  await activeDomain();
  const account = () =>
    db
      .selectFrom("certificate_authorities")
      .select(["account_url", "private_key"])
      .where("directory", "=", pebble.directory)
      .executeTakeFirstOrThrow();
  const { account_url: closed, private_key: sealed } = await account();
  const key = await openAccountKey(keyBox.open(sealed, pebble.directory));
  const payload = { status: "deactivated" };
  await createAuthority(pebble.directory, now).post(closed, { payload, sign: key.signAs(closed) });
  await activeDomain();
  const { account_url: next } = await account();
  expect(next).not.toBe(closed);
  await db
    .updateTable("certificate_authorities")
    .set({ account_url: `${next}0` })
    .execute();
  await activeDomain();
  expect((await account()).account_url).not.toBe(`${next}0`);
});

test("while the authority is away for a day the old certificate is served, and then there is a new one", async () => {
  const gate = await openGate(Number(new URL(pebble.directory).port));
  const config = { directories: [gate.directory], email: undefined, profile: undefined };
  const domain = await insertWaitingDomain(database, newName(), now());
  await ordering({ config })();
  const first = await served(domain.name);
  time.advance(62 * dayMs);
  gate.shut();
  for (let hour = 0; hour < 24; hour++) {
    await ordering({ config })();
    time.advance(hourMs);
  }
  expect(await domain.read()).toMatchObject({
    status: "RENEWAL_PENDING",
    last_error: "The certificate authority cannot be reached.",
  });
  expect(await served(domain.name)).toBe(first);
  gate.open();
  await ordering({ config })();
  expect(await domain.read()).toMatchObject({ status: "ACTIVE", last_error: "" });
  await expect.poll(() => served(domain.name)).not.toBe(first);
});

test("a second authority signs while the first one is away", async () => {
  const directories = [`https://127.0.0.1:${await freePort()}/dir`, pebble.directory];
  const domain = await insertWaitingDomain(database, newName(), now());
  await ordering({ config: { directories, email: undefined, profile: undefined } })();
  expect(await domain.read()).toMatchObject({ status: "ACTIVE", last_error: "" });
});

/** A way to a port that can be shut. */
async function openGate(port: number) {
  let isShut = false;
  const sockets = new Set<net.Socket>();
  const gate = net.createServer((socket) => {
    const other = net.connect(port, "127.0.0.1");
    if (isShut) socket.destroy();
    for (const end of [socket, other]) {
      sockets.add(end);
      end
        .on("error", () => {})
        .on("close", () => {
          socket.destroy();
          other.destroy();
        });
    }
    socket.pipe(other).pipe(socket);
  });
  gate.listen(0, "127.0.0.1");
  await once(gate, "listening");
  onTestFinished(() => {
    gate.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = gate.address();
  const own = typeof address === "object" && address !== null ? address.port : 0;
  return {
    directory: `https://127.0.0.1:${own}/dir`,
    shut() {
      isShut = true;
      for (const socket of sockets) socket.destroy();
    },
    open() {
      isShut = false;
    },
  };
}
