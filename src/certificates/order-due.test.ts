import { once } from "node:events";
import net from "node:net";
import { afterAll, expect, test } from "vitest";
import { createCertificateMaker } from "../../test/support/certificate-maker.ts";
import { insertWaitingDomain, keyBox, testDesk, testOrdering } from "../../test/support/certificates.ts";
import { tickingClock } from "../../test/support/clock.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { deleteWorkspace, restoreWorkspace } from "../db/end-workspaces.ts";
import { settleDomain } from "../domains/settle.ts";
import { jobCalls } from "../jobs/queue.ts";
import { beginTurn, sweepCertificates } from "./queries.ts";
import { wantCertificate } from "./want-certificate.ts";

const database = await testDatabase();
const { db } = database;
const clock = tickingClock();
const { now } = clock;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** An authority that hangs up on everybody. */
let asked = 0;
const away = net.createServer((socket) => {
  asked += 1;
  socket.on("error", () => {}).destroy();
});
away.listen(0, "127.0.0.1");
await once(away, "listening");
afterAll(() => away.close());
const address = away.address();
const host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
const config = { directories: [`https://${host}/directory`], email: undefined, profile: undefined };
const order = testOrdering(database, { now, config });

let made = 0;
const newName = () => `d${++made}.customer.example`;
const row = (name: string) =>
  db.selectFrom("certificates").selectAll().where("name", "=", name).executeTakeFirstOrThrow();

/** A domain with a certificate of 90 days, of which some have passed. */
async function certifiedDomain(daysAgo: number) {
  const domain = await insertWaitingDomain(database, newName(), now());
  const { cert, key } = await maker.sign([domain.name]);
  const notBefore = new Date(now().getTime() - daysAgo * dayMs);
  const notAfter = new Date(notBefore.getTime() + 90 * dayMs);
  await db
    .updateTable("certificates")
    .set({
      chain: cert,
      private_key: keyBox.seal(key, domain.name),
      not_before: notBefore,
      not_after: notAfter,
      renew_at: new Date(notBefore.getTime() + 60 * dayMs),
    })
    .where("name", "=", domain.name)
    .execute();
  return { ...domain, notAfter };
}
const maker = await createCertificateMaker();

test("an authority that does not answer is left alone for a while, and no name is to blame", async () => {
  const domains = await Promise.all([1, 2, 3].map(() => insertWaitingDomain(database, newName(), now())));
  await order();
  const reached = asked;
  expect(reached).toBeGreaterThan(0);
  for (const { read } of domains)
    expect(await read()).toMatchObject({
      status: "CERTIFICATE_PENDING",
      last_error: `The certificate authority ${host} cannot be reached.`,
    });
  await order();
  expect(asked).toBe(reached);
  const first = domains[0]?.name ?? "";
  expect((await row(first)).failures).toBe(0);
  // Whoever asks for a check does not hurry it.
  const { next_at: planned } = await row(first);
  await wantCertificate(db, first, now());
  expect((await row(first)).next_at).toEqual(planned);
  clock.advance(2 * 60 * minuteMs);
  await order();
  expect(asked).toBeGreaterThan(reached);
});

test("a renewal that fails leaves the certificate as it is, and shows in the domain", async () => {
  clock.advance(2 * 60 * minuteMs);
  const { name, read, notAfter } = await certifiedDomain(61);
  const before = await row(name);
  await order();
  expect(await read()).toMatchObject({ status: "RENEWAL_PENDING", certificate_expires_at: notAfter });
  expect(await row(name)).toMatchObject({ chain: before.chain, private_key: before.private_key });
});

test("a domain that comes back with a good certificate is active again, and nothing is ordered", async () => {
  clock.advance(2 * 60 * minuteMs);
  const { name, read, notAfter } = await certifiedDomain(10);
  await db.updateTable("certificates").set({ next_at: null }).where("name", "<>", name).execute();
  const reached = asked;
  await order();
  expect(await read()).toMatchObject({ status: "ACTIVE", certificate_expires_at: notAfter, last_error: "" });
  expect(asked).toBe(reached);
});

test("a name that nobody wants a certificate for is left alone, and swept once nobody holds it", async () => {
  const names = [newName(), newName()];
  for (const name of names) await wantCertificate(db, name, now());
  const kept = await certifiedDomain(10);
  const reached = asked;
  await order();
  expect(asked).toBe(reached);
  for (const name of names) expect((await row(name)).next_at).toBeNull();
  await sweepCertificates(db, names.slice(0, 1), now());
  const left = await db
    .selectFrom("certificates")
    .select("name")
    .where("name", "in", [...names, kept.name])
    .execute();
  expect(new Set(left.map(({ name }) => name))).toEqual(new Set([names[0], kept.name]));
});

/** Tells a domain what name servers say. */
async function look({ workspaceId, id }: { workspaceId: string; id: string }, isRight: boolean) {
  const dns = { pointsHere: isRight, isOwned: isRight, fault: "" };
  const deps = { certificates: testDesk(now), now };
  const after = await db.transaction().execute((tx) => settleDomain(tx, deps, { workspaceId, id }, { dns }));
  return after?.status;
}

test("a domain that was away for long is looked after again once it is back, so that its certificate is renewed", async () => {
  await db.updateTable("certificates").set({ next_at: null }).execute();
  const domain = await certifiedDomain(10);
  await order();
  expect(await look(domain, false)).toBe("ACTIVE");
  clock.advance(dayMs);
  expect(await look(domain, false)).toBe("DOMAIN_PENDING");
  await db.updateTable("certificates").set({ next_at: now() }).where("name", "=", domain.name).execute();
  await order();
  expect((await row(domain.name)).next_at).toBeNull();
  expect(await look(domain, true)).toBe("ACTIVE");
  await order();
  const { next_at, renew_at } = await row(domain.name);
  expect(next_at).not.toBeNull();
  expect(next_at).toEqual(renew_at);
});

test("the domains of a restored workspace get certificates again when theirs were deleted, and keep those that are left", async () => {
  await db.updateTable("certificates").set({ next_at: null }).execute();
  const [swept, left] = [await certifiedDomain(10), await certifiedDomain(10)];
  await order();
  for (const domain of [swept, left]) {
    const { workspaceId } = domain;
    expect(await deleteWorkspace(db, { workspaceId, at: now(), jobCalls })).toEqual([workspaceId]);
  }
  await db.updateTable("certificates").set({ next_at: now() }).where("name", "=", left.name).execute();
  await order();
  await sweepCertificates(db, [left.name], now());
  for (const { workspaceId } of [swept, left])
    expect(await restoreWorkspace(db, workspaceId, now())).toEqual([]);
  expect(await look(swept, true)).toBe("CERTIFICATE_PENDING");
  expect(await look(left, true)).toBe("ACTIVE");
  for (const { name } of [swept, left]) expect((await row(name)).next_at).not.toBeNull();
});

test("whoever gives a name up and registers it again waits for its next order as before", async () => {
  const name = newName();
  await wantCertificate(db, name, now());
  const nextAt = new Date(now().getTime() + dayMs);
  const failed = { failures: 7, last_error: "The certificate authority refused.", next_at: nextAt };
  await db.updateTable("certificates").set(failed).where("name", "=", name).execute();
  await sweepCertificates(db, [], now());
  await wantCertificate(db, name, now());
  expect(await row(name)).toMatchObject(failed);
  clock.advance(dayMs + minuteMs);
  await sweepCertificates(db, [], now());
  await expect(row(name)).rejects.toThrow();
});

test("of several processes one looks after a name at a time; a run that died is taken over", async () => {
  await db.updateTable("certificates").set({ next_at: null }).execute();
  const names = Array.from({ length: 12 }, newName);
  for (const name of names) await wantCertificate(db, name, now());
  const turns = await Promise.all(Array.from({ length: 20 }, () => beginTurn(db, now())));
  const taken = turns.flatMap((turn) => (turn === undefined ? [] : [turn.name]));
  expect(taken).toHaveLength(names.length);
  expect(new Set(taken)).toEqual(new Set(names));
  clock.advance(10 * minuteMs);
  expect(names).toContain((await beginTurn(db, now()))?.name);
});

test("keys are opened for their own row only", () => {
  const sealed = keyBox.seal("key", "a.example");
  expect(keyBox.open(sealed, "a.example")).toBe("key");
  expect(() => keyBox.open(sealed, "b.example")).toThrow();
});
