import { sql } from "kysely";
import { expect, test } from "vitest";
import { deleteOldPasswordAttempts } from "../../src/db/password-attempts.ts";
import { seal } from "../../src/lib/sealed.ts";
import { tickingClock } from "../support/clock.ts";
import { insertWorkflow } from "../support/insert-workflow.ts";
import { type Answer, startTestScan } from "../support/start-scan.ts";
import { testDatabase } from "../support/test-database.ts";
import { formAction } from "../support/visitor.ts";

/*
 * An attacker who guesses a PIN. The attacker begins visits, uses other addresses, and asks two runtimes at once that
 * share only the database; all of this costs nothing.
 */

const database = await testDatabase();
const { db } = database;
const passwordKey = Buffer.from("00".repeat(32), "hex");
const minute = 60_000;

interface Guess {
  /** Which of the attacker's visits; the first when absent. */
  readonly visit?: string;
  readonly address?: string;
  readonly password?: string;
}

/** A link behind a PIN, two runtimes that serve it, and one clock for all. */
async function startAttack() {
  const clock = tickingClock();
  const runtimes = [
    await startTestScan(database, { now: clock.now }),
    await startTestScan(database, { now: clock.now }),
  ] as const;
  const link = await insertWorkflow(db, {
    entry: { action: "LINK_VISIT", next: { next: "pin" } },
    pin: { action: "PASSWORD_VERIFY", payload: { title: "PIN" }, next: { next: "done" } },
    done: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com/secret" } },
  });
  const password = seal(Buffer.from("4711"), passwordKey, `${link.workspaceId}/${link.steps.pin}`);
  await db
    .updateTable("workflow_steps")
    .set({ payload: JSON.stringify({ title: "PIN", password: password.toString("base64") }) })
    .where("workspace_id", "=", link.workspaceId)
    .where("id", "=", link.steps.pin)
    .execute();

  const [runtime] = runtimes;
  let asked = 0;

  /** Begins visits; returns the addresses of their forms. */
  async function begin(count: number): Promise<string[]> {
    const pages = Array.from({ length: count }, () => runtime.ask(`/${link.shortlink}`));
    const forms = (await Promise.all(pages)).map(formAction);
    await runtime.drained();
    return forms;
  }

  const [first = ""] = await begin(1);

  /** Sends guesses to the two runtimes in turn. */
  function guess({ visit = first, address = "192.0.2.1", password: guessed = "0000" }: Guess = {}) {
    asked += 1;
    return (asked % 2 === 0 ? runtimes[0] : runtimes[1]).ask(visit, {
      method: "POST",
      address,
      headers: { origin: "https://go.example", "content-type": "application/x-www-form-urlencoded" },
      body: `password=${guessed}`,
    });
  }

  return { clock, runtimes, link, begin, guess };
}

let addresses = 0;

/** An unused address in a network of its own. */
function freshAddress(): string {
  addresses += 1;
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

const statusOf = ({ status }: Answer) => status;
const retryAfter = ({ headers }: Answer) => Number(headers["retry-after"]);

function tally(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

test("a PIN allows about 400 guesses in an hour, from any number of visits and addresses", async () => {
  const { clock, begin, guess, link } = await startAttack();
  const endMs = clock.now().getTime() + 60 * minute;
  let visits: string[] = [];
  let beganMs = Number.NEGATIVE_INFINITY;
  let compared = 0;
  const seconds: number[] = [];
  for (;;) {
    const nowMs = clock.now().getTime();
    if (nowMs >= endMs) break;
    // Visits end after half an hour without activity.
    if (nowMs - beganMs > 25 * minute) [visits, beganMs] = [await begin(5), nowMs];
    const burst = visits.slice(0, compared < 100 ? 5 : 2);
    const answers = await Promise.all(burst.map((visit) => guess({ visit, address: freshAddress() })));
    const { 401: wrong = 0, 429: blocked = 0, ...others } = tally(answers);
    expect(others).toEqual({});
    // From the hundredth guess on, only one of several simultaneous guesses is compared.
    if (compared >= 100) expect([wrong, blocked]).toEqual([1, burst.length - 1]);
    compared += wrong;
    if (compared < 100) continue;
    const wait = Math.max(...answers.filter(({ status }) => status === 429).map(retryAfter));
    if (blocked > 0) seconds.push(wait);
    // A guess that waits as long as the answer says is compared.
    clock.advance((blocked > 0 ? wait : 1) * 1_000);
  }
  expect(compared).toBeGreaterThan(380);
  expect(compared).toBeLessThan(415);
  // A runtime whose clock is a moment behind adds a second.
  expect(new Set(seconds.map((wait) => 2 ** Math.floor(Math.log2(wait))))).toEqual(
    new Set([1, 2, 4, 8, 16, 32]),
  );
  expect([60, 61]).toContain(Math.max(...seconds));
  const { rows } = await sql<{ bytes: number }>`
    select pg_column_size(p.*)::int as bytes from password_attempts p where step_id = ${link.steps.pin}`.execute(
    db,
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]?.bytes).toBeLessThan(12_000);
}, 120_000);

test("of simultaneous guesses only as many are compared as the budget allows: 5 of a visit and address, 20 of an address", async () => {
  const { begin, guess } = await startAttack();
  const visits = await begin(8);
  const [one = ""] = visits;
  const together = await Promise.all(Array.from({ length: 16 }, () => guess({ visit: one })));
  expect(tally(together)).toEqual({ 401: 5, 429: 11 });
  // The same visit from another address, and the same address with other visits.
  expect(statusOf(await guess({ visit: one, address: "192.0.2.2" }))).toBe(401);
  const others = visits.slice(1).flatMap((visit) => Array.from({ length: 5 }, () => guess({ visit })));
  expect(tally(await Promise.all(others))).toEqual({ 401: 15, 429: 20 });
  const [, , , , , , , last = ""] = visits;
  expect(statusOf(await guess({ visit: last, address: "192.0.2.2" }))).toBe(401);
});

test("a /64 network is one address", async () => {
  const { begin, guess } = await startAttack();
  const visits = await begin(21);
  const guesses = visits.map((visit, n) => guess({ visit, address: `2001:db8:1:2:${n}::${n}` }));
  expect(tally(await Promise.all(guesses))).toEqual({ 401: 20, 429: 1 });
  expect(statusOf(await guess({ address: "2001:db8:1:3::1" }))).toBe(401);
});

test("a used-up budget also blocks the right password, which is neither compared nor counted until the wait is over", async () => {
  const { clock, guess, link, runtimes } = await startAttack();
  for (let n = 0; n < 5; n++) expect(statusOf(await guess())).toBe(401);
  const counted = await triesOf(link.steps.pin);
  const statements = () => runtimes.reduce((sum, { statements: count }) => sum + count(), 0);
  const before = statements();
  for (let n = 0; n < 10; n++) {
    const blocked = await guess({ password: "4711" });
    expect(blocked.status).toBe(429);
    expect(retryAfter(blocked)).toBeGreaterThan(890);
    expect(retryAfter(blocked)).toBeLessThanOrEqual(900);
    expect(blocked.headers["cache-control"]).toContain("no-store");
  }
  expect(statements() - before).toBeLessThanOrEqual(30);
  expect(await triesOf(link.steps.pin)).toEqual(counted);
  clock.advance(15 * minute);
  const passed = await guess({ password: "4711" });
  expect([passed.status, passed.headers.location]).toEqual([302, "https://example.com/secret"]);
});

test("tries come back one by one: five in any 15 minutes, and no more at the edges of a window", async () => {
  const { clock, guess } = await startAttack();
  expect(statusOf(await guess())).toBe(401);
  clock.advance(14 * minute);
  for (let n = 0; n < 4; n++) expect(statusOf(await guess())).toBe(401);
  expect(statusOf(await guess())).toBe(429);
  clock.advance(minute);
  expect(statusOf(await guess())).toBe(401);
  const blocked = await guess();
  expect(blocked.status).toBe(429);
  expect(retryAfter(blocked)).toBeGreaterThan(13 * 60);
});

test("a right password costs no try, and returns none of the tries of its address and step", async () => {
  const { begin, guess } = await startAttack();
  const visits = await begin(24);
  const next = () => visits.pop() ?? "";
  for (let n = 0; n < 19; n++) expect(statusOf(await guess({ visit: next() }))).toBe(401);
  for (let n = 0; n < 3; n++)
    expect(statusOf(await guess({ visit: next(), password: "4711" })), `${n}`).toBe(302);
  // The twentieth and last try.
  expect(statusOf(await guess({ visit: next() }))).toBe(401);
  expect(statusOf(await guess({ visit: next(), password: "4711" }))).toBe(429);

  const more = await begin(18);
  const wrong = more.slice(0, 16).flatMap((visit) => {
    const address = freshAddress();
    return Array.from({ length: 5 }, () => guess({ visit, address }));
  });
  // With the twenty from above a hundred; the last one begins a pause.
  expect(tally(await Promise.all(wrong.slice(0, 79)))).toEqual({ 401: 79 });
  const right = { visit: more[16] ?? "", address: freshAddress(), password: "4711" };
  await Promise.all(wrong);
  expect(statusOf(await guess(right))).toBe(429);
});

test("the tries of a step are deleted when they are two hours old, and not earlier", async () => {
  const { clock, guess, link } = await startAttack();
  await guess();
  clock.advance(110 * minute);
  await deleteOldPasswordAttempts(db, clock.now());
  expect(await triesOf(link.steps.pin)).toHaveLength(1);
  clock.advance(11 * minute);
  while ((await deleteOldPasswordAttempts(db, clock.now())) > 0);
  expect(await triesOf(link.steps.pin)).toEqual([]);
});

async function triesOf(stepId: string): Promise<unknown[]> {
  const { rows } = await sql`select * from password_attempts where step_id = ${stepId}`.execute(db);
  return rows;
}
