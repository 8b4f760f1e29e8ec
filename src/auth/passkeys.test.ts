import { execFileSync } from "node:child_process";
import { generateKeyPairSync, hash, type KeyObject, randomBytes, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isoCBOR } from "@simplewebauthn/server/helpers";
import { expect, onTestFinished, test } from "vitest";
import { memberPassword, openTestBrowser, startSignIn } from "../../test/support/start-sign-in.ts";
import { hasTool } from "../../test/support/system-tool.ts";
import { newId } from "../lib/ids.ts";
import { challengeTime, passkeyChallenge } from "../people/passkey-challenges.ts";

const server = await startSignIn();
const { db, clock } = server;

/** A browser with the sign-in page open, and how its script asks. */
async function openPage() {
  const own = openTestBrowser(server.port);
  const { text } = await own.open("/auth/sign-in");
  const form = /name="form" value="([^"]*)"/.exec(text)?.[1] ?? "";
  const origin = `http://127.0.0.1:${server.port}`;
  const ask = async (task: string, body: object = {}, headers: Record<string, string> = {}) => {
    const reply = await own.json("POST", `/auth/passkeys/${task}`, { form, ...body }, { origin, ...headers });
    return { status: reply.status, json: JSON.parse(reply.text) };
  };
  return { ...own, ask, form };
}

const response = { clientDataJSON: "e30", attestationObject: "oA", authenticatorData: "AA", signature: "AA" };

test("a challenge counts for five minutes, for its purpose and its browser, and only with our key", () => {
  const key = randomBytes(32);
  const at = new Date();
  const place = { purpose: "sign-in", boundTo: "a" } as const;
  const challenge = Buffer.from(passkeyChallenge(key, place, at)).toString("base64url");
  const later = (ms: number) => new Date(at.getTime() + ms);
  expect(challengeTime(key, place, challenge, later(5 * 60_000))).toEqual(at);
  expect(challengeTime(key, place, challenge, later(5 * 60_000 + 1))).toBeUndefined();
  expect(challengeTime(key, { ...place, boundTo: "b" }, challenge, at)).toBeUndefined();
  expect(challengeTime(key, { ...place, purpose: "register" }, challenge, at)).toBeUndefined();
  expect(challengeTime(randomBytes(32), place, challenge, at)).toBeUndefined();
  for (const damaged of ["", "x", `A${challenge.slice(1)}`, `${challenge}AA`])
    if (damaged !== challenge) expect(challengeTime(key, place, damaged, at)).toBeUndefined();
});

test("the script's questions need its own page, and making passkeys needs a session", async () => {
  const page = await openPage();
  const { rpId, userVerification, allowCredentials } = (await page.ask("sign-in-options")).json;
  expect([rpId, userVerification, allowCredentials]).toEqual(["localhost", "required", undefined]);
  for (const task of ["register-options", "register"]) expect((await page.ask(task)).status).toBe(401);
  expect((await page.ask("sign-in-options", { form: "x" })).status).toBe(403);
  expect((await page.ask("sign-in-options", {}, { origin: "https://evil.example" })).status).toBe(403);
  expect((await page.ask("sign-in-options", {}, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await page.ask("toString")).status).toBe(404);
  expect((await page.ask("sign-in", { response: "x".repeat(17_000) })).status).toBe(413);
  expect((await page.send("POST", "/auth/passkeys/sign-in-options", "a=b")).status).toBe(415);
});

test("answers of no authenticator are refused alike, known or not, and are limited like passwords", async () => {
  const member = await server.newMember();
  const credentialId = randomBytes(16);
  await db.insertInto("member_passkeys").values(passkeyRow(member, credentialId)).execute();
  const handle = (workspaceId: string, memberId: string) =>
    Buffer.from((workspaceId + memberId).replaceAll("-", ""), "hex").toString("base64url");
  const known = {
    id: credentialId.toString("base64url"),
    rawId: credentialId.toString("base64url"),
    type: "public-key",
  };
  const given = [
    undefined,
    "x",
    {},
    { ...known, response },
    { ...known, response: { ...response, userHandle: handle(member.workspaceId, member.memberId) } },
    { ...known, response: { ...response, userHandle: handle(newId(clock.now()), member.memberId) } },
    { ...known, id: "x", response: { ...response, userHandle: handle(member.workspaceId, member.memberId) } },
    { ...known, response: { ...response, userHandle: "x".repeat(10_000) } },
  ];
  const answers = [];
  for (const each of given) answers.push(await (await openPage()).ask("sign-in", { response: each }));
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(answers[0]?.status).toBe(401);
  const page = await openPage();
  const statuses = [];
  for (let tries = 0; tries < 7; tries += 1)
    statuses.push((await page.ask("sign-in", { response: { ...known, response } })).status);
  expect(statuses).toContain(429);
});

test("a member has ten passkeys at most, removes only its own, and keeps what does not fit out", async () => {
  const member = await server.newMember();
  const other = await server.newMember();
  const rows = Array.from({ length: 10 }, () => passkeyRow(member, randomBytes(16)));
  await db
    .insertInto("member_passkeys")
    .values([...rows, passkeyRow(other, randomBytes(16))])
    .execute();
  const page = await openPage();
  await page.submit("/auth/sign-in", { email: member.email, password: memberPassword });
  expect((await page.open("/auth/account")).text).toContain("You have 10 passkeys.");
  const full = await page.ask("register-options");
  expect([full.status, full.json.error.codeType]).toEqual([429, "LIMIT_REACHED"]);
  const all = await db.selectFrom("member_passkeys").select(["id", "member_id"]).execute();
  const [others, own] = [all.find((row) => row.member_id === other.memberId), rows[0]];
  for (const id of [others?.id ?? "", own?.id ?? "", "x"]) await page.submit("/auth/remove-passkey", { id });
  const left = await db.selectFrom("member_passkeys").select("member_id").execute();
  expect(left.filter(({ member_id }) => member_id === member.memberId)).toHaveLength(9);
  expect(left.filter(({ member_id }) => member_id === other.memberId)).toHaveLength(1);
  const options = (await page.ask("register-options")).json;
  expect(options.excludeCredentials).toHaveLength(9);
  const wrong = await page.ask("register", {
    response: { id: "x", rawId: "x", type: "public-key", response },
  });
  expect([wrong.status, wrong.json.error.codeType]).toEqual([400, "INVALID_ARGUMENT"]);
});

const hasOpenssl = hasTool({ command: "openssl", debianPackage: "openssl" });

test.skipIf(!hasOpenssl)(
  "a passkey with certificates is refused, and no address that they name is asked",
  async () => {
    let asked = 0;
    const listener = createServer((_req, res) => {
      asked += 1;
      res.end();
    }).listen(0, "127.0.0.1");
    await once(listener, "listening");
    onTestFinished(() => void listener.close());
    const crl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/crl`;
    const { page, made } = await openAccount();
    const vouched = made(({ key, clientDataHash }) => ({
      format: "android-key",
      statement: new Map<string | number, Cbor>([
        ["alg", -7],
        ["sig", new Uint8Array(70)],
        ["x5c", androidCertificates(key, clientDataHash, crl)],
      ]),
    }));
    const packed = made(() => ({ format: "packed", statement: new Map([["x5c", [new Uint8Array(20)]]]) }));
    for (const refused of [vouched, packed, made(() => ({ format: "tpm", statement: new Map() }))]) {
      const { status, json } = await page.ask("register", { response: refused });
      expect([status, json.error?.codeType]).toEqual([400, "INVALID_ARGUMENT"]);
    }
    expect(asked).toBe(0);
    expect((await page.ask("register", { response: made() })).status).toBe(200);
  },
);

test("of a new passkey only ways to reach it that browsers know are kept, and no name longer than 1,023 bytes", async () => {
  const { member, page, made } = await openAccount();
  const long = await page.ask("register", { response: made(none, { idBytes: 1_024 }) });
  expect([long.status, long.json.error.codeType]).toEqual([400, "INVALID_ARGUMENT"]);
  const transports = ["usb", "carrier-pigeon", "internal", "usb", 7];
  const kept = await page.ask("register", { response: made(none, { idBytes: 1_023, transports }) });
  expect(kept.status).toBe(200);
  const rows = await db
    .selectFrom("member_passkeys")
    .select("transports")
    .where("member_id", "=", member.memberId)
    .execute();
  expect(rows).toEqual([{ transports: ["internal", "usb"] }]);
});

/** A member's account page, and an authenticator that makes passkeys as its script is asked to. */
async function openAccount() {
  const member = await server.newMember();
  const page = await openPage();
  await page.submit("/auth/sign-in", { email: member.email, password: memberPassword });
  const { challenge, rp } = (await page.ask("register-options")).json;
  const clientData = JSON.stringify({
    type: "webauthn.create",
    challenge,
    origin: new URL(server.authUrl).origin,
  });
  const clientDataHash = hash("sha256", clientData, "buffer");
  const made = (attest: Attest = none, { idBytes = 32, transports = [] as unknown[] } = {}) => {
    const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const id = randomBytes(idBytes);
    const { format, statement } = attest({ key, clientDataHash });
    const attestation = new Map<string | number, Cbor>([
      ["fmt", format],
      ["attStmt", statement],
      ["authData", authenticatorData(key, id, rp.id)],
    ]);
    const name = id.toString("base64url");
    return {
      ...{ id: name, rawId: name, type: "public-key" },
      response: {
        clientDataJSON: Buffer.from(clientData).toString("base64url"),
        attestationObject: Buffer.from(isoCBOR.encode(attestation)).toString("base64url"),
        transports,
      },
    };
  };
  return { member, page, made };
}

type Cbor = Parameters<typeof isoCBOR.encode>[0];

type Attest = (about: { readonly key: KeyObject; readonly clientDataHash: Buffer }) => {
  readonly format: string;
  readonly statement: Map<string | number, Cbor>;
};

function none(): ReturnType<Attest> {
  return { format: "none", statement: new Map() };
}

function authenticatorData(key: KeyObject, id: Buffer, rpId: string): Uint8Array {
  const { x = "", y = "" } = key.export({ format: "jwk" });
  const publicKey = new Map<string | number, Cbor>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, new Uint8Array(Buffer.from(x, "base64url"))],
    [-3, new Uint8Array(Buffer.from(y, "base64url"))],
  ]);
  const userPresentAndVerified = 0x45;
  return new Uint8Array(
    Buffer.concat([
      hash("sha256", rpId, "buffer"),
      Buffer.from([userPresentAndVerified, 0, 0, 0, 0]),
      Buffer.alloc(16),
      Buffer.from([id.length >> 8, id.length & 255]),
      id,
      isoCBOR.encode(publicKey),
    ]),
  );
}

/** Certificates as a key of Android has them, made by a root of our own that names a list of revoked ones. */
function androidCertificates(key: KeyObject, clientDataHash: Buffer, crl: string): Uint8Array[] {
  const folder = mkdtempSync(join(tmpdir(), "certificates-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const make = (name: string, own: KeyObject, ...terms: string[]) => {
    writeFileSync(join(folder, `${name}.key`), own.export({ type: "pkcs8", format: "pem" }));
    const given = ["req", "-x509", "-days", "2", "-subj", `/CN=${name}`, "-key", `${name}.key`, ...terms];
    execFileSync("openssl", [...given, "-out", `${name}.pem`], { cwd: folder });
    return new Uint8Array(new X509Certificate(readFileSync(join(folder, `${name}.pem`))).raw);
  };
  const root = make("root", generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
  const content = `0201030a01000201040a01000420${clientDataHash.toString("hex")}040030003000`;
  const description = `30${(content.length / 2).toString(16)}${content}`;
  const leaf = make(
    "leaf",
    key,
    ...["-CA", "root.pem", "-CAkey", "root.key", "-addext", `crlDistributionPoints=URI:${crl}`],
    ...["-addext", `1.3.6.1.4.1.11129.2.1.17=DER:${description}`],
  );
  return [leaf, root];
}

function passkeyRow(
  { workspaceId, memberId }: { workspaceId: string; memberId: string },
  credentialId: Buffer,
) {
  return {
    ...{
      workspace_id: workspaceId,
      id: newId(clock.now()),
      member_id: memberId,
      credential_id: credentialId,
    },
    ...{ public_key: randomBytes(77), sign_count: 0n, created_at: clock.now() },
  };
}
