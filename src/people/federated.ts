import type { JSONWebKeySet } from "jose";
import { fail, invalid } from "../lib/errors.ts";
import { ownText } from "../lib/own-text.ts";

/** The project at Firebase whose identity tokens are accepted. */
export interface FederatedConfig {
  readonly projectId: string;
  /** Where the keys of the tokens are published, as a set of JSON Web Keys. */
  readonly keysUrl: string;
}

/** Who signed in with an account elsewhere. The address is verified there, and in the form in which addresses are compared. */
export interface FederatedPerson {
  readonly email: string;
}

/**
 * Reads an identity token. Throws INVALID_ARGUMENT for one that is not good for this service, and UNAVAILABLE while its keys
 * cannot be fetched. It may wait for them, so it must not run in a transaction.
 */
export type VerifyFederated = (idToken: string) => Promise<FederatedPerson>;

/** The sign-ins that the project may offer and that count here (behaviour 8.1). */
const providers: ReadonlySet<unknown> = new Set(["google.com", "microsoft.com"]);

/** Clocks of other machines may be wrong by as many seconds. */
const clockToleranceSeconds = 60;

/** RFC 7515, section 7.1: base64url without padding. */
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export function createFederatedVerifier({
  config,
  now,
}: {
  readonly config: FederatedConfig;
  readonly now: () => Date;
}): VerifyFederated {
  const keysFor = createKeys({ url: config.keysUrl, now });
  const { projectId } = config;

  return async (idToken) => {
    if (!compactForm.test(idToken)) throw refused("must be an identity token, a signed JWT");
    const { decodeProtectedHeader, createLocalJWKSet, errors, jwtVerify } = await import("jose");
    const at = now();
    try {
      const { kid } = decodeProtectedHeader(idToken);
      if (typeof kid !== "string" || kid.length > 200) throw refused("has no key id");
      const { payload } = await jwtVerify(idToken, createLocalJWKSet(await keysFor(kid)), {
        algorithms: ["RS256"],
        issuer: `https://securetoken.google.com/${projectId}`,
        audience: projectId,
        requiredClaims: ["exp", "iat", "sub", "auth_time"],
        clockTolerance: clockToleranceSeconds,
        currentDate: at,
      });
      return personOf(payload, at);
    } catch (error) {
      if (!(error instanceof errors.JOSEError || error instanceof TypeError)) throw error;
      throw refused(
        error instanceof errors.JWTExpired
          ? "has expired; sign in again"
          : "was not issued for this service; sign in again with Google or Microsoft",
      );
    }
  };
}

function personOf(payload: Readonly<Record<string, unknown>>, at: Date): FederatedPerson {
  const { sub, email, email_verified: isVerified, auth_time: signedInAt, iat } = payload;
  const latest = at.getTime() / 1000 + clockToleranceSeconds;
  const isPast =
    typeof signedInAt === "number" && signedInAt <= latest && typeof iat === "number" && iat <= latest;
  if (!isPast || typeof sub !== "string" || sub === "" || sub.length > 128) throw refused("has no sign-in");
  if (!providers.has(providerOf(payload.firebase)))
    throw refused("must come from a sign-in with Google or Microsoft");
  if (typeof email !== "string" || email === "" || email.length > 254 || isVerified !== true) {
    throw fail(
      "INVALID_ARGUMENT",
      "CLAIM_EMAIL_MISMATCH",
      "firebaseToken: the account has no verified e-mail address; use another account, or a password",
    );
  }
  return { email: email.trim().toLowerCase() };
}

function providerOf(firebase: unknown): unknown {
  return typeof firebase === "object" && firebase !== null && "sign_in_provider" in firebase
    ? firebase.sign_in_provider
    : undefined;
}

function refused(description: string) {
  return invalid([{ field: "firebaseToken", description }]);
}

const minuteMs = 60_000;
/** How long keys are used, whatever their `Cache-Control` says. */
const keptMs = { min: 5 * minuteMs, max: 24 * 60 * minuteMs, unlessTold: 60 * minuteMs };
/** Nobody makes this service fetch keys more often, by naming unknown keys or while they cannot be fetched. */
const pauseMs = 10_000;
const answerMs = 5_000;
const answerBytesMax = 64 * 1024;

interface Known {
  readonly keys: JSONWebKeySet;
  readonly untilMs: number;
}

/** Gives the set of keys that has the named one, if there is one. All who wait share one fetch. */
function createKeys({ url, now }: { readonly url: string; readonly now: () => Date }) {
  let known: Known | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const atMs = now().getTime();
    askedAtMs = atMs;
    known = await fetchKeys(url, atMs);
  }

  return async (kid: string): Promise<JSONWebKeySet> => {
    const nowMs = now().getTime();
    const isGood =
      known !== undefined && known.untilMs > nowMs && known.keys.keys.some((key) => key.kid === kid);
    const mayAsk = asking !== undefined || Math.abs(nowMs - askedAtMs) >= pauseMs;
    let cause: unknown;
    if (!isGood && mayAsk) {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      await asking.catch((error: unknown) => {
        cause = error;
      });
    }
    if (known !== undefined && known.untilMs > nowMs) return known.keys;
    throw fail(
      "UNAVAILABLE",
      "UNAVAILABLE",
      "sign-ins with Google or Microsoft cannot be checked at the moment; try again in a minute",
      { retryAfterSeconds: 10, cause },
    );
  };
}

async function fetchKeys(url: string, atMs: number): Promise<Known> {
  const answer = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(answerMs) });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > answerBytesMax) throw new Error(`the keys have more than ${answerBytesMax} bytes`);
    chunks.push(chunk);
  }
  if (!answer.ok) throw new Error(`the keys were answered with ${answer.status}`);
  const keys: unknown = JSON.parse(Buffer.concat(chunks).toString());
  if (!isKeySet(keys)) throw new Error("the keys are no set of JSON Web Keys");
  return { keys, untilMs: atMs + keptOf(answer.headers.get("cache-control") ?? "") };
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  if (typeof value !== "object" || value === null || !("keys" in value) || !Array.isArray(value.keys))
    return false;
  return value.keys.every((key: unknown) => typeof key === "object" && key !== null);
}

function keptOf(cacheControl: string): number {
  const seconds = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(ownText(cacheControl.slice(0, 500)))?.[1];
  if (seconds === undefined) return keptMs.unlessTold;
  return Math.min(Math.max(Number(seconds) * 1000, keptMs.min), keptMs.max);
}
