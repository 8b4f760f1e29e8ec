import { expect, test } from "vitest";
import { tickingClock } from "../../test/support/clock.ts";
import { memberPassword, openTestBrowser, startSignIn } from "../../test/support/start-sign-in.ts";
import { createPasswordGate } from "../people/passwords.ts";
import { takeStrangersTry } from "../people/sign-in-tries.ts";

const clock = tickingClock();
const one = await startSignIn({ clock });
const two = await startSignIn({ clock, database: one.database });
const hashes = () => one.counts.verified + two.counts.verified;

/** Posts as JSON to one process or the other, in turn. */
let posts = 0;
async function post(email: string, password: string, address?: string) {
  posts += 1;
  const { port } = posts % 2 === 0 ? one : two;
  const { status, headers, text } = await openTestBrowser(port, address).json("POST", "/auth/session", {
    email,
    password,
  });
  return { status, retryAfter: Number(headers["retry-after"] ?? 0), text };
}

test("wrong passwords of an account are counted for all processes together, before anything is hashed", async () => {
  const { email } = await one.newMember();
  const address = "203.0.113.1";
  const statuses = await Promise.all(
    Array.from({ length: 12 }, async () => (await post(email, "wrong", address)).status),
  );
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(7);
  const before = hashes();
  const refused = await post(email, memberPassword, address);
  expect(refused).toMatchObject({ status: 429 });
  expect(refused.retryAfter).toBeGreaterThan(800);
  expect(hashes()).toBe(before);
  expect((await post(email, memberPassword, "203.0.113.2")).status).toBe(200);
  clock.advance(15 * 60_000);
  expect((await post(email, memberPassword, address)).status).toBe(200);
});

test("right passwords cost nothing, however many", async () => {
  const { email } = await one.newMember();
  for (let times = 0; times < 8; times += 1)
    expect((await post(email, memberPassword, "203.0.113.3")).status).toBe(200);
});

test("one network gets 30 wrong passwords in an hour for all accounts together", async () => {
  const { email } = await one.newMember();
  const answers = [];
  for (let tries = 0; tries < 31; tries += 1)
    answers.push(
      (await post(`nobody-${tries}@example.com`, "wrong", `2001:db8::${tries.toString(16)}`)).status,
    );
  expect(answers).toEqual([...Array.from({ length: 30 }, () => 401), 429]);
  expect((await post(email, memberPassword, "2001:db8::ffff")).status).toBe(429);
  expect((await post(email, memberPassword, "2001:db8:1::1")).status).toBe(200);
});

test("an account that many networks guess at pauses for a minute at most, so its owner gets in", async () => {
  const { email } = await one.newMember();
  let paused = 0;
  for (let tries = 0; tries < 60; tries += 1) {
    const { status, retryAfter } = await post(email, "wrong", `192.0.2.${tries}`);
    if (status !== 429) continue;
    paused += 1;
    expect(retryAfter).toBeLessThanOrEqual(60);
    clock.advance(retryAfter * 1_000);
  }
  expect(paused).toBeGreaterThan(15);
  clock.advance(61_000);
  expect((await post(email, memberPassword, "203.0.113.4")).status).toBe(200);
});

test("an unknown address is limited like a known one", async () => {
  const statuses = [];
  for (let tries = 0; tries < 6; tries += 1)
    statuses.push((await post("stranger@example.com", "wrong", "203.0.113.5")).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
});

test("an address that asks too often is refused before its request is read, but may still open pages", async () => {
  const hurried = await startSignIn({ clock, database: one.database, deps: { secondsToWait: () => 3 } });
  const browser = openTestBrowser(hurried.port);
  const before = hashes() + hurried.counts.verified;
  for (const path of ["session", "sign-in", "forgotten", "passkeys/sign-in", "oauth2/token", "oauth2/reg"]) {
    const { status, headers } = await browser.json("POST", `/auth/${path}`, { email: "x@example.com" });
    expect([status, headers["retry-after"]]).toEqual([429, "3"]);
  }
  expect((await browser.open("/auth/sign-in")).status).toBe(200);
  expect(hashes() + hurried.counts.verified).toBe(before);
});

test("two passwords are hashed at a time; few wait, and the others are sent away without costing a try", async () => {
  const open = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  const gate = createPasswordGate({
    async verify() {
      running += 1;
      most = Math.max(most, running);
      await open.promise;
      running -= 1;
      return true;
    },
  });
  const crowded = await startSignIn({ clock, database: one.database, deps: { passwords: gate } });
  const { email } = await one.newMember();
  const address = "203.0.113.6";
  const waiting = Array.from({ length: 18 }, (_, index) => gate.isRight("x", "x", index < 9 ? "a" : "b"));
  const held = Array.from({ length: 16 }, () => gate.isRight("x", "x", address));
  const refused = await openTestBrowser(crowded.port, address).json("POST", "/auth/session", {
    email,
    password: "x",
  });
  expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
  const page = await openTestBrowser(crowded.port, address).signIn(email, "x");
  expect([page.status, page.headers["retry-after"]]).toEqual([429, "1"]);
  open.resolve();
  await Promise.all([...waiting, ...held]);
  expect(most).toBe(2);
  for (let tries = 0; tries < 5; tries += 1) expect((await post(email, "wrong", address)).status).toBe(401);
});

test("who has many networks does what strangers may do 5 times as often as one network, and all together 50 times", async () => {
  const take = async (address: string) =>
    takeStrangersTry(one.db, { name: "a deed", address, max: 1 }, clock.now());
  let allowed = 0;
  for (let site = 0; site < 11; site += 1) {
    const waits = [];
    for (let network = 0; network < 6; network += 1) waits.push(await take(`2001:db8:${site}:${network}::1`));
    const taken = waits.filter((seconds) => seconds === 0).length;
    expect(taken).toBe(site < 10 ? 5 : 0);
    expect(waits.at(-1)).toBeGreaterThan(3_000);
    allowed += taken;
  }
  expect(allowed).toBe(50);
});

test("agents and programs of a site with many networks share its registrations of an hour", async () => {
  const address = (network: number) => `2001:db8:77:${network}::1`;
  const agent = { type: "service_auth", login_hint: "person@example.com" };
  const program = { redirect_uris: ["https://program.example/callback"] };
  for (const [name, max, path, body] of [
    ["agent registration", 10, "/auth/agent/identity", agent],
    ["oauth registration", 20, "/auth/oauth2/reg", program],
  ] as const) {
    const post = async (from: string) =>
      (await openTestBrowser(one.port, from).json("POST", path, body)).status;
    for (let network = 0; network < 5 * max; network += 1)
      expect(await takeStrangersTry(one.db, { name, address: address(network), max }, clock.now())).toBe(0);
    expect(await post(address(200))).toBe(429);
    expect(await post("2001:db8:78:1::1")).toBeLessThan(300);
  }
});
