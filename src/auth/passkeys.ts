import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { fail } from "../lib/errors.ts";
import { asObject, type JsonFields, textOf } from "../model/json-fields.ts";
import {
  addPasskey,
  memberByPasskey,
  registrationOptions,
  removePasskey,
  signInOptions,
} from "../people/passkeys.ts";
import { begin } from "../people/sign-in.ts";
import { takeSignInTry } from "../people/sign-in-tries.ts";
import type { AuthDeps } from "./deps.ts";
import { signedInCookies } from "./sign-in.ts";
import { type SignedIn, signedInBy } from "./signed-in.ts";
import { afterSignIn, type PageActions, signInOrigin, type Visit } from "./visit.ts";

/** What the script is answered: JSON, and cookies to set. */
export interface ScriptAnswer {
  readonly json: object;
  readonly setCookies?: readonly string[];
}

/** The questions of the script, by the last part of their address. */
export type ScriptActions = ReadonlyMap<string, ScriptAction>;

export type ScriptAction = (visit: Visit, body: JsonFields) => Promise<ScriptAnswer>;

export function passkeyActions(deps: AuthDeps): ScriptActions {
  // Challenges have the key of forms: neither can be taken for the other, because a challenge's MAC covers its purpose.
  const passkeyDeps = { ...deps, challengeKey: deps.formKey };

  async function signedIn(visit: Visit): Promise<SignedIn> {
    const found = await signedInBy(deps, visit);
    if (found === undefined) throw fail("UNAUTHENTICATED", "UNAUTHENTICATED", "sign in first");
    return found;
  }

  return new Map<string, ScriptAction>([
    [
      "register-options",
      async (visit) => {
        const { session, email } = await signedIn(visit);
        return { json: await registrationOptions(passkeyDeps, { ...session, email }, session.sessionId) };
      },
    ],
    [
      "register",
      async (visit, { response }) => {
        const { session } = await signedIn(visit);
        await addPasskey(passkeyDeps, session, registration(response), session.sessionId);
        return { json: { to: visit.pathTo("account") } };
      },
    ],
    ["sign-in-options", async (visit) => ({ json: signInOptions(passkeyDeps, visit.formToken) })],
    [
      "sign-in",
      async (visit, { response }) => {
        const given = authentication(response);
        const { address } = visit.origin;
        const taken = await takeSignInTry(deps.db, { email: `passkey ${given.id}`, address }, deps.now());
        if (!taken.isAllowed)
          throw fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", "too many tries", {
            retryAfterSeconds: taken.seconds,
          });
        const member = await memberByPasskey(passkeyDeps, given, visit.formToken);
        const outcome =
          member?.isShutOut === false
            ? await begin(deps, member, { taken, origin: signInOrigin(visit) })
            : undefined;
        if (outcome === undefined)
          throw fail("UNAUTHENTICATED", "UNAUTHENTICATED", "the passkey is not known");
        return {
          json: { to: visit.pathTo(afterSignIn(visit)) },
          setCookies: signedInCookies(visit, outcome.accessToken),
        };
      },
    ],
  ]);
}

/** Removes a passkey; its form works without the script. */
export function removePasskeyPage(deps: AuthDeps): PageActions {
  return {
    open: () => ({ to: "account" }),
    async send(visit, fields) {
      const signedIn = await signedInBy(deps, visit);
      if (signedIn !== undefined) await removePasskey(deps.db, signedIn.session, fields.get("id") ?? "");
      return { to: "account" };
    },
  };
}

/** How browsers reach authenticators (WebAuthn 5.8.4, and `cable`, which `hybrid` was once called). */
const knownTransports = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"] as const;

/** The texts that the library reads. It checks what they say, and takes their types for granted. */
function registration(value: unknown): RegistrationResponseJSON {
  const { id, rawId, type, response } = asObject(value) ?? {};
  const { clientDataJSON, attestationObject, transports } = asObject(response) ?? {};
  return {
    id: textOf(id),
    rawId: textOf(rawId),
    type: textOf(type) as "public-key", // the library refuses any other
    response: {
      clientDataJSON: textOf(clientDataJSON),
      attestationObject: textOf(attestationObject),
      transports: knownTransports.filter((each) => Array.isArray(transports) && transports.includes(each)),
    },
    clientExtensionResults: {},
  };
}

function authentication(value: unknown): AuthenticationResponseJSON {
  const { id, rawId, type, response } = asObject(value) ?? {};
  const { clientDataJSON, authenticatorData, signature, userHandle } = asObject(response) ?? {};
  return {
    id: textOf(id).slice(0, 1_400),
    rawId: textOf(rawId),
    type: textOf(type) as "public-key", // the library refuses any other
    response: {
      clientDataJSON: textOf(clientDataJSON),
      authenticatorData: textOf(authenticatorData),
      signature: textOf(signature),
      userHandle: textOf(userHandle),
    },
    clientExtensionResults: {},
  };
}
