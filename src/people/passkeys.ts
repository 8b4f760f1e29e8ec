import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
  WebAuthnCredential,
} from "@simplewebauthn/server";
import { sql } from "kysely";
import { type Db, inTransaction, violates } from "../db/open.ts";
import { fail } from "../lib/errors.ts";
import { isUuid, newId } from "../lib/ids.ts";
import { memberById, type SigningMember } from "./members.ts";
import { type ChallengePlace, challengeTime, passkeyChallenge } from "./passkey-challenges.ts";

export interface PasskeyDeps {
  readonly db: Db;
  readonly now: () => Date;
  /** The key that makes challenges. */
  readonly challengeKey: Uint8Array;
  /** The public address of the pages; its host is the one that passkeys are for. */
  readonly authUrl: string;
}

type Member = Pick<SigningMember, "workspaceId" | "memberId">;

/** The most passkeys of a member. */
export const passkeysMax = 10;

/** The most bytes of the name that an authenticator gives a passkey (WebAuthn 5.8.3). */
const credentialIdMax = 1_023;

/** EdDSA, ES256 and RS256, which every authenticator has one of. Asked for its own list, the library tries out Node's experiments. */
const algorithms = [-8, -7, -257] as const;

/** What was given is not what the authenticator was asked for. */
function refusedKey(cause?: unknown) {
  return fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", "the passkey does not fit; try again", { cause });
}

// Loaded with the first passkey that is made or used: it takes 150 ms, once.
const loadLibrary = () => import("@simplewebauthn/server");

/** What a browser is asked to make a passkey with. Authenticators that the member has are left out. */
export async function registrationOptions(
  deps: PasskeyDeps,
  member: Member & { readonly email: string },
  boundTo: string,
) {
  const { generateRegistrationOptions } = await loadLibrary();
  const known = await passkeysOf(deps.db, member);
  if (known.length >= passkeysMax) throw tooMany();
  return generateRegistrationOptions({
    rpName: "Signpost",
    rpID: hostOf(deps),
    userName: member.email,
    userID: userHandleOf(member),
    challenge: passkeyChallenge(deps.challengeKey, { purpose: "register", boundTo }, deps.now()),
    excludeCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    supportedAlgorithmIDs: [...algorithms],
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
}

/** Keeps the passkey that a browser made. Throws INVALID_ARGUMENT when it does not answer our question. */
export async function addPasskey(
  deps: PasskeyDeps,
  member: Member,
  response: RegistrationResponseJSON,
  boundTo: string,
): Promise<void> {
  const { verifyRegistrationResponse } = await loadLibrary();
  const at = deps.now();
  const place: ChallengePlace = { purpose: "register", boundTo };
  if (!(await vouchesForItself(response.response.attestationObject))) throw refusedKey();
  const { registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: (challenge) => challengeTime(deps.challengeKey, place, challenge, at) !== undefined,
    expectedOrigin: new URL(deps.authUrl).origin,
    expectedRPID: hostOf(deps),
    supportedAlgorithmIDs: [...algorithms],
  }).catch((error: unknown) => {
    throw refusedKey(error);
  });
  if (registrationInfo === undefined) throw refusedKey();
  if (Buffer.byteLength(registrationInfo.credential.id, "base64url") > credentialIdMax) throw refusedKey();
  await insertPasskey(deps.db, member, registrationInfo.credential, at);
}

/**
 * Whether a new passkey brings no certificates. We ask for none, and for some kinds of them the library fetches addresses
 * that they name, which a stranger chooses.
 */
async function vouchesForItself(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import("@simplewebauthn/server/helpers");
  try {
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
    const format: unknown = attestation.get("fmt");
    return format === "none" || (format === "packed" && attestation.get("attStmt").get("x5c") === undefined);
  } catch {
    return false; // it is no attestation at all
  }
}

/** The row of the member is locked, so that of many at once ten are kept. */
async function insertPasskey(
  db: Db,
  { workspaceId, memberId }: Member,
  { id, publicKey, counter, transports = [] }: WebAuthnCredential,
  at: Date,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`select from members where workspace_id = ${workspaceId} and id = ${memberId} for update`.execute(
      tx,
    );
    if ((await passkeysOf(tx, { workspaceId, memberId })).length >= passkeysMax) throw tooMany();
    await tx
      .insertInto("member_passkeys")
      .values({
        workspace_id: workspaceId,
        id: newId(at),
        member_id: memberId,
        credential_id: Buffer.from(id, "base64url"),
        public_key: Buffer.from(publicKey),
        transports: [...transports],
        sign_count: BigInt(counter),
        created_at: at,
      })
      .execute();
  }).catch((error: unknown) => {
    if (violates(error, "member_passkeys_credential_key")) throw refusedKey();
    throw error;
  });
}

function tooMany() {
  return fail(
    "RESOURCE_EXHAUSTED",
    "LIMIT_REACHED",
    `a member has ${passkeysMax} passkeys at most; remove one first`,
  );
}

/**
 * What a browser is asked to sign in with: any passkey of this host, so that nobody has to name an account. It is written
 * without the library, which strangers would otherwise load.
 */
export function signInOptions(deps: PasskeyDeps, boundTo: string) {
  const challenge = passkeyChallenge(deps.challengeKey, { purpose: "sign-in", boundTo }, deps.now());
  return {
    rpId: hostOf(deps),
    userVerification: "required",
    challenge: Buffer.from(challenge).toString("base64url"),
    timeout: 60_000,
  };
}

/**
 * The member whose passkey answered our question; undefined for any other answer. A challenge counts once: a passkey
 * accepts only challenges that are younger than the last one it answered.
 */
export async function memberByPasskey(
  deps: PasskeyDeps,
  response: AuthenticationResponseJSON,
  boundTo: string,
): Promise<SigningMember | undefined> {
  const { db, now, challengeKey } = deps;
  const named = memberOfHandle(response.response.userHandle);
  const passkey =
    named && (await passkeysOf(db, named)).find(({ credentialId }) => credentialId === response.id);
  if (named === undefined || passkey === undefined) return undefined;
  const { verifyAuthenticationResponse } = await loadLibrary();
  let challengedAt: Date | undefined;
  const place: ChallengePlace = { purpose: "sign-in", boundTo };
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge(challenge) {
      challengedAt = challengeTime(challengeKey, place, challenge, now());
      return challengedAt !== undefined;
    },
    expectedOrigin: new URL(deps.authUrl).origin,
    expectedRPID: hostOf(deps),
    credential: { id: passkey.credentialId, publicKey: passkey.publicKey, counter: passkey.signCount },
  }).catch(() => undefined);
  if (verified?.verified !== true || challengedAt === undefined) return undefined;
  const { numUpdatedRows } = await db
    .updateTable("member_passkeys")
    .set({ sign_count: BigInt(verified.authenticationInfo.newCounter), challenged_at: challengedAt })
    .where("workspace_id", "=", named.workspaceId)
    .where("id", "=", passkey.id)
    .where((eb) => eb.or([eb("challenged_at", "is", null), eb("challenged_at", "<", challengedAt ?? null)]))
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n ? memberById(db, named) : undefined;
}

/** The passkeys of a member, oldest first. */
export async function passkeysOf(db: Db, { workspaceId, memberId }: Member) {
  const rows = await db
    .selectFrom("member_passkeys")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("member_id", "=", memberId)
    .orderBy("id")
    .limit(passkeysMax)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    credentialId: row.credential_id.toString("base64url"),
    publicKey: new Uint8Array(row.public_key),
    transports: row.transports,
    signCount: Number(row.sign_count),
    createdAt: row.created_at,
  }));
}

export async function removePasskey(db: Db, { workspaceId, memberId }: Member, id: string): Promise<void> {
  if (!isUuid(id)) return;
  await db
    .deleteFrom("member_passkeys")
    .where("workspace_id", "=", workspaceId)
    .where("member_id", "=", memberId)
    .where("id", "=", id)
    .execute();
}

/** Passkeys belong to a host name, whatever its port. */
function hostOf({ authUrl }: Pick<PasskeyDeps, "authUrl">): string {
  return new URL(authUrl).hostname;
}

/** Authenticators keep it with the passkey and hand it back: the two ids, 32 bytes. */
function userHandleOf({ workspaceId, memberId }: Member): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(`${workspaceId}${memberId}`.replaceAll("-", ""), "hex"));
}

function memberOfHandle(handle: unknown): Member | undefined {
  if (typeof handle !== "string" || handle.length > 64) return undefined;
  const hex = Buffer.from(handle, "base64url").toString("hex");
  if (hex.length !== 64) return undefined;
  const uuid = (from: number) =>
    hex.slice(from, from + 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  return { workspaceId: uuid(0), memberId: uuid(32) };
}
