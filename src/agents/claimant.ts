import { networkOf } from "../lib/client-address.ts";
import { fail, invalid } from "../lib/errors.ts";
import type { VerifyFederated } from "../people/federated.ts";
import type { SigningMember } from "../people/members.ts";
import type { PasswordGate } from "../people/passwords.ts";
import { type FindPlace, lastKnownOf, type SignInOrigin } from "../people/sign-in-origin.ts";
import type { ClaimLink } from "./attempts.ts";
import type { Claimant } from "./complete-claim.ts";

/** What a person proves with who it is: a new password, or the token of a sign-in elsewhere. */
export type Proof = { readonly password: string } | { readonly idToken: string };

export interface ClaimantDeps {
  readonly passwords: PasswordGate;
  /** Undefined where the operator has named no project for such sign-ins. */
  readonly verifyFederated: VerifyFederated | undefined;
  readonly findPlace: FindPlace;
}

/**
 * Hashes the password, or asks whether the token is of the claim's address. It waits, so it must not run in a transaction.
 * Throws CLAIM_EMAIL_MISMATCH, and INVALID_ARGUMENT for a token that is not good.
 */
export async function proveClaimant(
  { passwords, verifyFederated, findPlace }: ClaimantDeps,
  { email }: Pick<ClaimLink, "email">,
  proof: Proof,
  origin: SignInOrigin,
): Promise<Claimant> {
  if ("password" in proof) {
    const passwordHash = await passwords.hash(proof.password, networkOf(origin.address));
    return { passwordHash, lastKnown: await lastKnownOf(origin, findPlace) };
  }
  await checkAddress(verifyFederated, proof.idToken, email);
  return { passwordHash: null, lastKnown: await lastKnownOf(origin, findPlace) };
}

/** Whether the member who claimed can sign in now with the same proof: a retry of the claim begins a session like any other. */
export async function provesAgain(
  { passwords, verifyFederated }: ClaimantDeps,
  { passwordHash, email, needsCode, isShutOut }: SigningMember,
  proof: Proof,
  address: string,
): Promise<boolean> {
  if (needsCode || isShutOut) return false;
  if ("password" in proof) return passwords.isRight(passwordHash, proof.password, networkOf(address));
  await checkAddress(verifyFederated, proof.idToken, email);
  return true;
}

async function checkAddress(
  verifyFederated: VerifyFederated | undefined,
  idToken: string,
  email: string,
): Promise<void> {
  if (verifyFederated === undefined) {
    const description = "this service has no sign-in with Google or Microsoft; give a password instead";
    throw invalid([{ field: "firebaseToken", description }]);
  }
  const person = await verifyFederated(idToken);
  if (person.email === email) return;
  throw fail(
    "INVALID_ARGUMENT",
    "CLAIM_EMAIL_MISMATCH",
    `firebaseToken: is of another address; sign in with the account of ${email}, or give a password`,
    { fields: [{ field: "firebaseToken", description: `must be of a sign-in as ${email}` }] },
  );
}
