import type { Db } from "../db/open.ts";
import { networkOf } from "../lib/client-address.ts";
import { challengeToken, type NamedChallenge, readChallengeToken } from "./challenges.ts";
import { memberByEmail, memberById, normalEmail, noteSignIn, type SigningMember } from "./members.ts";
import type { PasswordGate } from "./passwords.ts";
import type { SignedSession, SignSession } from "./sessions.ts";
import { openCode, type QueueMail, sendCode, useCode } from "./sign-in-code.ts";
import { type FindPlace, lastKnownOf, type SignInOrigin } from "./sign-in-origin.ts";
import { type Try, takeSignInTry } from "./sign-in-tries.ts";

export interface SignInDeps {
  readonly db: Db;
  readonly now: () => Date;
  /** The key for `member-challenges`. */
  readonly challengeKey: Uint8Array;
  readonly signSession: SignSession;
  readonly passwords: PasswordGate;
  readonly queueMail: QueueMail;
  readonly findPlace: FindPlace;
}

/** What a person gives to sign in, and from where. */
export interface SignInAttempt extends SignInOrigin {
  readonly email: string;
  readonly password: string;
  /** The code of the mail, when it is already at hand. */
  readonly code?: string | undefined;
}

/**
 * How an attempt ends. A refusal says nothing more: unknown addresses, wrong passwords, suspended and pending members
 * and deleted workspaces look alike.
 */
export type SignInOutcome =
  | { readonly kind: "signed-in"; readonly session: SignedSession }
  /** The password was right, and a code was mailed. The token proves the first part. */
  | { readonly kind: "code-needed"; readonly challenge: string }
  | { readonly kind: "refused" }
  | { readonly kind: "wait"; readonly seconds: number };

const refused: SignInOutcome = Object.freeze({ kind: "refused" });
const signedIn = (session: SignedSession): SignInOutcome => ({ kind: "signed-in", session });

/** Signs in with address and password. The tries are taken before anything is hashed. Throws when too many wait for a hash. */
export async function signIn(deps: SignInDeps, attempt: SignInAttempt): Promise<SignInOutcome> {
  const { db, now, passwords } = deps;
  const at = now();
  const email = normalEmail(attempt.email);
  const taken = await takeSignInTry(db, { email, address: attempt.address }, at);
  if (!taken.isAllowed) return { kind: "wait", seconds: taken.seconds };
  const member = await memberByEmail(db, email);
  const isRight = await hashed(taken, () =>
    passwords.isRight(member?.passwordHash, attempt.password, networkOf(attempt.address)),
  );
  if (!isRight || member === undefined || member.isShutOut) return refused;
  if (!member.needsCode) return signedIn(await begin(deps, member, { taken, origin: attempt }));
  if (attempt.code === undefined) {
    await taken.giveBack();
    return {
      kind: "code-needed",
      challenge: challengeToken(deps.challengeKey, await sendCode(deps, member, at)),
    };
  }
  const challenge = await openCode(db, member, at);
  if (challenge === undefined || (await useCode(deps, challenge, attempt.code, at)) === undefined)
    return refused;
  return signedIn(await begin(deps, member, { taken, origin: attempt }));
}

/** Goes on with the code after the password; `token` is what `signIn` gave for it. */
export async function signInWithCode(
  deps: SignInDeps,
  attempt: SignInOrigin & { readonly token: string; readonly code: string },
): Promise<SignInOutcome> {
  const { db, now, challengeKey } = deps;
  const { token, code, address } = attempt;
  const at = now();
  const challenge = readChallengeToken(challengeKey, token);
  const challenged = challenge && (await memberOf(db, challenge));
  if (challenge === undefined || challenged === undefined) return refused;
  const taken = await takeSignInTry(db, { email: challenged.email, address }, at);
  if (!taken.isAllowed) return { kind: "wait", seconds: taken.seconds };
  const used = await useCode(deps, challenge, code, at);
  if (used === undefined || used.email !== challenged.email || challenged.isShutOut) return refused;
  return signedIn(await begin(deps, challenged, { taken, origin: attempt }));
}

/** Starts a session of a member who has proved who it is. */
export async function begin(
  { db, now, signSession, findPlace }: Pick<SignInDeps, "db" | "now" | "signSession" | "findPlace">,
  member: SigningMember,
  { taken, origin }: { readonly taken: Extract<Try, { isAllowed: true }>; readonly origin: SignInOrigin },
): Promise<SignedSession> {
  const at = now();
  await taken.giveBack();
  await noteSignIn(db, member, await lastKnownOf(origin, findPlace), at);
  return signSession(member, at);
}

/** A try that could not be compared is given back. */
async function hashed(
  taken: Extract<Try, { isAllowed: true }>,
  compare: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await compare();
  } catch (error) {
    await taken.giveBack();
    throw error;
  }
}

async function memberOf(
  db: Db,
  { workspaceId, challengeId }: NamedChallenge,
): Promise<SigningMember | undefined> {
  const challenge = await db
    .selectFrom("member_challenges")
    .select("member_id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", challengeId)
    .executeTakeFirst();
  return challenge && memberById(db, { workspaceId, memberId: challenge.member_id });
}
