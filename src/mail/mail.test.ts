import { mkdtemp, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { simpleParser } from "mailparser";
import { pino } from "pino";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { startMailServer } from "../../test/support/mail-server.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { enqueue } from "../jobs/queue.ts";
import { type Jobs, startJobs } from "../jobs/runner.ts";
import { newId } from "../lib/ids.ts";
import { deriveKey } from "../lib/keys.ts";
import type { MailFacts, MailKind } from "../model/mail.ts";
import { challengeCode, makeChallenge, readChallengeToken } from "../people/challenges.ts";
import { compose } from "./compose.ts";
import { mailLanguages } from "./languages.ts";
import { deleteOldKeptMails, folderOutbox, type Outbox, smtpOutbox } from "./outbox.ts";
import { sendMail } from "./send-mail.ts";

// The library has no types.
const { JSDOM } = createRequire(import.meta.url)("jsdom") as {
  readonly JSDOM: new (html: string) => { readonly window: { readonly document: HtmlDocument } };
};

interface HtmlElement {
  readonly textContent: string | null;
  readonly href: string;
  readonly lang: string;
}

interface HtmlDocument {
  readonly title: string;
  readonly documentElement: HtmlElement;
  readonly body: HtmlElement;
  querySelectorAll(selector: string): Iterable<HtmlElement> & { readonly length: number };
}

const { db, connection } = await testDatabase();
const server = await startMailServer();
const now = () => new Date("2026-11-22T12:00:00Z");
const challengeKey = deriveKey("the master secret of tests", "member-challenges");
const authUrl = "https://example.com/auth";
const logged: string[] = [];
const log = pino({ level: "info" }, { write: (line: string) => void logged.push(line) });
const from = { name: "Signpost", address: "signpost@example.com" };

function task(outbox: Outbox = smtpOutbox(server.url, now)) {
  return sendMail({ db, now, outbox, from, challengeKey, authUrl, baseUrl: "https://example.com", log });
}

interface People {
  readonly workspace?: string;
  readonly environment?: "live" | "test";
  readonly firstName?: string;
  readonly language?: string;
}

async function newMember({
  workspace = "Café",
  environment = "live",
  firstName = "Ada",
  language = "",
}: People) {
  const [workspaceId, memberId, at] = [newId(now()), newId(now()), now()];
  const times = { created_at: at, updated_at: at };
  await db
    .insertInto("workspaces")
    .values({ id: workspaceId, name: workspace, environment, link_setting_id: newId(at), ...times })
    .execute();
  const email = `${memberId}@example.com`;
  await db
    .insertInto("members")
    .values({
      workspace_id: workspaceId,
      id: memberId,
      email,
      first_name: firstName,
      display_language: language,
      role: "ADMIN",
      ...times,
    })
    .execute();
  return { workspaceId, memberId, email };
}

type Member = Awaited<ReturnType<typeof newMember>>;

const challengeKinds = {
  invitation: "INVITATION",
  "sign-up": "INVITATION",
  "email-confirmation": "EMAIL_CONFIRMATION",
  "sign-in-code": "SIGN_IN_CODE",
  "password-reset": "PASSWORD_RESET",
} as const;

const otherFacts = {
  "email-changed": { newEmail: "new@example.com" },
  quota: { limit: "TRACKED_VISITS", percent: 80, used: 80_000, allowed: 100_000 },
  digest: {
    period: "month",
    firstDay: "2026-10-01",
    lastDay: "2026-10-31",
    visits: { now: 12_345, before: 345 },
    links: { now: 1, before: 1 },
    visitors: { now: 0, before: 7 },
    mostVisited: [{ name: "Menu", visits: 12_000 }],
  },
  "webhook-disabled": { url: "https://hooks.example.com/x", reason: "it answered 500 for three days" },
  "domain-away": {
    domain: "links.example.com",
    fault: "The CNAME record leads to other.example.",
    servedUntil: "2026-12-22T12:00:00Z",
  },
  "workspace-deleted": { restorableUntil: "2026-12-22T12:00:00Z" },
} as const satisfies Partial<MailFacts>;

const kinds = [...Object.keys(challengeKinds), ...Object.keys(otherFacts)] as MailKind[];

async function factsOf(kind: MailKind, { workspaceId, memberId, email }: Member): Promise<unknown> {
  if (!(kind in challengeKinds)) return otherFacts[kind as keyof typeof otherFacts];
  const challenge = { kind: challengeKinds[kind as keyof typeof challengeKinds], at: now() };
  return { challengeId: await makeChallenge(db, { workspaceId, memberId, email }, challenge) };
}

async function payloadOf(kind: MailKind, member: Member, facts?: unknown) {
  return {
    mailId: newId(now()),
    workspaceId: member.workspaceId,
    memberId: member.memberId,
    kind,
    to: member.email,
    facts: JSON.stringify(facts ?? (await factsOf(kind, member))),
  };
}

const { signal } = new AbortController();

/** The HTML says what the text says, and nothing in it is loaded or hidden. */
function expectSameWords(text: string, html: string): HtmlDocument {
  const { document } = new JSDOM(html).window;
  const shown = [...document.querySelectorAll("p, li")].map(({ textContent }) => textContent ?? "");
  const lines = text.split("\n").filter((line) => line !== "" && line !== "-- ");
  expect(lines.map((line) => line.replace(/^- /, ""))).toEqual(
    shown.map((line, index) =>
      // Only the text has a colon between what to do and where.
      shown[index + 1]?.startsWith(authUrl) ? `${line}:` : line,
    ),
  );
  const loaded = "img, script, link, style, iframe, form, [src], [srcset], [background]";
  expect(document.querySelectorAll(loaded).length).toBe(0);
  expect(html).not.toMatch(/url\(|@import/);
  for (const anchor of document.querySelectorAll("a")) expect(text).toContain(`\n${anchor.href}\n`);
  return document;
}

test.each(mailLanguages)(
  "every kind of mail is readable in %s, and its text and HTML say the same",
  async (language) => {
    const member = await newMember({ language: `${language.toUpperCase()}-x` });
    for (const kind of kinds) {
      const payload = await payloadOf(kind, member);
      await task()(payload, signal);
      const { mail } = await server.mailTo(member.email);
      const { text = "", subject = "" } = mail;
      const document = expectSameWords(text, String(mail.html));
      expect(document.documentElement.lang).toBe(language);
      expect(document.title).toBe(subject);
      for (const name of ["Café", "Ada"]) expect(text).toContain(name);
      expect(text).not.toMatch(/undefined|NaN|\[object/);
      expect(mail.headers.has("list")).toBe(kind === "digest");
      const inEnglish = compose(kind, JSON.parse(payload.facts), {
        ...payload,
        ...{ workspace: "Café", firstName: "Ada", displayLanguage: "tlh", timezone: "UTC" },
        ...{ from, challengeKey, authUrl, baseUrl: "https://example.com" },
      });
      expect([subject, text].map((each) => each === inEnglish.subject || each === inEnglish.text)).toEqual(
        Array(2).fill(language === "en"),
      );
      const sentences = inEnglish.text.split("\n").filter((line) => / .* /.test(line));
      const kept = sentences.filter((line) => text.split("\n").includes(line));
      expect(kept).toEqual(language === "en" ? sentences : []);
      server.clear();
    }
  },
);

test("links and codes in mails meet their challenges", async () => {
  const member = await newMember({});
  for (const [kind, page] of [
    ["invitation", "invitation"],
    ["sign-up", "invitation"],
    ["email-confirmation", "confirm"],
    ["password-reset", "reset"],
  ] as const) {
    const payload = await payloadOf(kind, member);
    await task()(payload, signal);
    const { mail } = await server.mailTo(member.email);
    const [address = ""] = /https:\/\/example\.com\/auth\S*/.exec(mail.text ?? "") ?? [];
    const url = new URL(address);
    expect(url.pathname).toBe(`/auth/${page}`);
    const { challengeId } = JSON.parse(payload.facts);
    const named = readChallengeToken(challengeKey, url.searchParams.get("challenge") ?? "");
    expect(named).toEqual({ workspaceId: member.workspaceId, challengeId });
    server.clear();
  }
  const payload = await payloadOf("sign-in-code", member);
  await task()(payload, signal);
  const { mail } = await server.mailTo(member.email);
  expect(mail.text?.split("\n")).toContain(
    challengeCode(challengeKey, JSON.parse(payload.facts).challengeId),
  );
});

test("names of people and workspaces add no header, no markup, no link and no direction", async () => {
  const member = await newMember({
    workspace:
      "Evil\r\nBcc: victim@example.com\r\n\r\n<img src=https://evil.example/x> \u202egnp.exe\u2028 https://evil.example/pay",
    firstName: `<b>${"A".repeat(300)}\u0007\u2066`,
  });
  for (const kind of kinds) {
    const facts =
      kind === "digest"
        ? { ...otherFacts.digest, mostVisited: [{ name: "\r\n<i>https://evil.example", visits: 1 }] }
        : undefined;
    await task()(await payloadOf(kind, member, facts), signal);
    const { mail, raw, recipients } = await server.mailTo(member.email);
    expect(recipients).toEqual([member.email]);
    expect([mail.cc, mail.bcc]).toEqual([undefined, undefined]);
    const head = raw.slice(0, raw.indexOf("\r\n\r\n"));
    expect(head).not.toMatch(/^(bcc|cc):/im);
    expect(head.match(/^Content-Type:/gim)).toHaveLength(1);
    const document = expectSameWords(mail.text ?? "", String(mail.html));
    expect(document.querySelectorAll("b, i").length).toBe(0);
    for (const text of [mail.subject ?? "", mail.text ?? "", document.body.textContent ?? ""]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the mail must have none
      expect(text).not.toMatch(/[\u0007\r\u2028\u202a-\u202e\u2066]/);
      expect(text).not.toMatch(/evil\.example|https?:\/\/evil/);
    }
    expect(mail.subject).not.toMatch(/\n/);
    server.clear();
  }
});

test("a name in a right-to-left script is isolated, and one with dots looks the same", () => {
  const context = {
    mailId: "m",
    workspaceId: "w",
    timezone: "UTC",
    challengeKey,
    authUrl,
    baseUrl: "b",
    to: "a@example.com",
    from,
    displayLanguage: "en",
  };
  const about = (workspace: string) =>
    compose("email-changed", { newEmail: "n@example.com" }, { ...context, workspace, firstName: "" }).text;
  expect(about("שלום")).toContain("“\u2068שלום\u2069”");
  expect(about("J.R.R. & Sons").replaceAll("\u200c", "")).toContain("“J.R.R. & Sons”");
  expect(about("\u202e")).toContain("“…”");
});

const running: Jobs[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((jobs) => jobs.stop()));
  await sql`delete from graphile_worker._private_jobs`.execute(db);
  server.clear();
});

function startQueue(outbox?: Outbox): Jobs {
  const tasks = { "send-mail": task(outbox) };
  const jobs = startJobs({
    connection,
    tasks,
    concurrency: 2,
    stopTimeoutMs: 50,
    log: pino({ level: "silent" }),
    recoveryIntervalMs: 50,
  });
  running.push(jobs);
  return jobs;
}

async function queued(): Promise<
  readonly { readonly attempts: number; readonly last_error: string | null }[]
> {
  const { rows } = await sql<{ attempts: number; last_error: string | null }>`
    select attempts, last_error from graphile_worker._private_jobs where locked_at is null order by id`.execute(
    db,
  );
  return rows;
}

function eventually(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 20_000, interval: 20 });
}

test("a mail that the server puts off is sent again with its Message-ID, and waits for nobody's mail", async () => {
  const [ada, bob] = [await newMember({}), await newMember({})];
  server.answerNext(451);
  startQueue();
  const payload = await payloadOf("email-changed", ada);
  await enqueue(db, "send-mail", payload);
  await eventually(async () => expect(await queued()).toMatchObject([{ attempts: 1 }]));
  const [put] = await queued();
  expect(put?.last_error).toContain("EMESSAGE 451");
  expect(put?.last_error).not.toContain("ada@example.com");
  await enqueue(db, "send-mail", await payloadOf("email-changed", bob));
  await server.mailTo(bob.email);
  await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
  await eventually(() =>
    expect(server.mails.filter(({ recipients }) => recipients.includes(ada.email))).toHaveLength(2),
  );
  const ids = server.mails
    .filter(({ recipients }) => recipients.includes(ada.email))
    .map(({ mail }) => mail.messageId);
  expect(ids).toEqual([`<${payload.mailId}@example.com>`, `<${payload.mailId}@example.com>`]);
  await eventually(async () => expect(await queued()).toEqual([]));
});

test("a mail that the server refuses for good is given up and logged without its address, and the next one is sent", async () => {
  const [ada, bob] = [await newMember({}), await newMember({})];
  logged.length = 0;
  server.answerNext(550);
  await enqueue(db, "send-mail", await payloadOf("email-changed", ada));
  await enqueue(db, "send-mail", await payloadOf("email-changed", bob));
  startQueue();
  await server.mailTo(bob.email);
  await eventually(async () => expect(await queued()).toEqual([]));
  expect(server.mails).toHaveLength(2);
  const line = logged.find((each) => each.includes("given up"));
  expect(line).toContain("EMESSAGE 550");
  expect(logged.join("")).not.toMatch(/@example\.com/);
});

test("an address with a comma is one address: the mail goes to nobody whom it names", async () => {
  const context = {
    ...{ mailId: newId(now()), workspaceId: newId(now()), timezone: "UTC", workspace: "Café" },
    ...{ challengeKey, authUrl, baseUrl: "b", from, displayLanguage: "en", firstName: "" },
    to: "1,victim@example.com",
  };
  const message = compose("email-changed", { newEmail: "n@example.com" }, context);
  await smtpOutbox(server.url, now).deliver(newId(now()), message, signal);
  const recipients = server.mails.flatMap((each) => each.recipients);
  expect(recipients).toHaveLength(1);
  expect(recipients).not.toContain("victim@example.com");
});

test("a sender that stops in the middle of a mail sends it again with its Message-ID", async () => {
  const ada = await newMember({});
  const forever = Promise.withResolvers<void>();
  server.answerNext(forever.promise);
  const jobs = startQueue();
  await enqueue(db, "send-mail", await payloadOf("email-changed", ada));
  await server.mailTo(ada.email);
  await jobs.stop();
  startQueue();
  await eventually(() => expect(server.mails).toHaveLength(2));
  forever.resolve();
  const [first, second] = server.mails;
  expect(second?.mail.messageId).toBe(first?.mail.messageId);
  await eventually(async () => expect(await queued()).toEqual([]));
});

test("a wrong password, a silent server and one that is away are no refusals: the mail stays queued", async () => {
  const strict = await startMailServer({
    authOptional: false,
    onAuth: (_auth, _session, done) => done(null, {}),
  });
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo; // it listens on a port
  const member = await newMember({});
  for (const [url, code] of [
    [strict.url.replace("//", "//me:wrong@").concat("?requireTLS=false"), "EAUTH"],
    // The password is not sent to a server without TLS.
    [strict.url.replace("//", "//me:wrong@"), "ETLS"],
    [`smtp://127.0.0.1:${port}?greetingTimeout=50`, "ETIMEDOUT"],
    ["smtp://127.0.0.1:1", "ESOCKET"],
  ] as const) {
    const sent = task(smtpOutbox(url, now))(await payloadOf("email-changed", member), signal);
    await expect(sent, url).rejects.toThrow(`the mail server did not take the mail: ${code}`);
  }
  expect(strict.mails).toEqual([]);
});

test("a refused recipient ends a mail; a refused sender is the operator's to mend, and the mail stays queued", async () => {
  const refusal = () => Object.assign(new Error("no <ada@example.com> here"), { responseCode: 550 });
  const noSender = await startMailServer({ onMailFrom: (_address, _session, done) => done(refusal()) });
  const noRecipient = await startMailServer({ onRcptTo: (_address, _session, done) => done(refusal()) });
  const member = await newMember({});
  const send = async ({ url }: { readonly url: string }) =>
    task(smtpOutbox(url, now))(await payloadOf("email-changed", member), signal);
  logged.length = 0;
  await expect(send(noSender)).rejects.toThrow(/^the mail server did not take the mail: EENVELOPE 550$/);
  expect(logged).toEqual([]);
  await send(noRecipient);
  expect(logged.join("")).toMatch(/EENVELOPE 550.*given up/);
  expect(logged.join("")).not.toMatch(/@example\.com/);
});

test("after a mail server was found away, no mail waits for it for half a minute", async () => {
  let connections = 0;
  const silent = createServer(() => void connections++);
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo; // it listens on a port
  let at = now();
  const outbox = smtpOutbox(`smtp://127.0.0.1:${port}?greetingTimeout=50`, () => at);
  const member = await newMember({});
  const send = async () => task(outbox)(await payloadOf("email-changed", member), signal);
  await expect(send()).rejects.toThrow("ETIMEDOUT");
  for (let times = 0; times < 20; times++) await expect(send()).rejects.toThrow("the mail server is away");
  expect(connections).toBe(1);
  at = new Date(at.getTime() + 30_000);
  await expect(send()).rejects.toThrow("ETIMEDOUT");
  expect(connections).toBe(2);
});

test("nothing is sent for a sandbox, for a challenge that is met or over, or to a member who is gone", async () => {
  const sandbox = await newMember({ environment: "test" });
  await task()(await payloadOf("email-changed", sandbox), signal);
  const ada = await newMember({});
  for (const change of [{ used_at: now() }, { expires_at: now() }]) {
    const payload = await payloadOf("sign-in-code", ada);
    await db
      .updateTable("member_challenges")
      .set(change)
      .where("id", "=", JSON.parse(payload.facts).challengeId)
      .execute();
    await task()(payload, signal);
  }
  await db.deleteFrom("members").where("workspace_id", "=", ada.workspaceId).execute();
  await task()(await payloadOf("invitation", ada), signal);
  await task()(await payloadOf("quota", ada), signal);
  expect(server.mails).toEqual([]);
  // An old address is told whatever became of the member.
  await task()(await payloadOf("email-changed", ada), signal);
  expect(server.mails).toHaveLength(1);
  await db.deleteFrom("workspaces").where("id", "=", ada.workspaceId).execute();
  await task()(await payloadOf("email-changed", ada), signal);
  expect(server.mails).toHaveLength(1);
});

test("without a mail server, mails are files that only the service's user can read, for 30 days", async () => {
  const folder = join(await mkdtemp(join(tmpdir(), "signpost-mail-")), "mail");
  onTestFinished(() => rm(join(folder, ".."), { recursive: true, force: true }));
  logged.length = 0;
  const member = await newMember({ language: "de" });
  const payload = await payloadOf("invitation", member);
  for (let times = 0; times < 2; times++) await task(folderOutbox(folder))(payload, signal);
  const path = join(folder, `${payload.mailId}.eml`);
  expect(await readdir(folder)).toEqual([`${payload.mailId}.eml`]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect(JSON.parse(logged[0] ?? "")).toMatchObject({ file: path, kind: "invitation" });
  const mail = await simpleParser(await readFile(path));
  expect([mail.subject, mail.messageId]).toEqual(["Einladung zu „Café“", `<${payload.mailId}@example.com>`]);
  const day = 24 * 60 * 60;
  for (const [age, left] of [
    [29 * day, 1],
    [31 * day, 0],
  ] as const) {
    await utimes(path, now().getTime() / 1000 - age, now().getTime() / 1000 - age);
    await deleteOldKeptMails(folder, now());
    expect(await readdir(folder)).toHaveLength(left);
  }
  await deleteOldKeptMails(join(folder, "missing"), now());
});
