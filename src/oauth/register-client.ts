import type { Db } from "../db/open.ts";
import { newId } from "../lib/ids.ts";
import { objectOf } from "../model/json-fields.ts";
import { takeNetworkTry, takeStrangersTry } from "../people/sign-in-tries.ts";
import { nameOf, redirectUrisOf } from "./client-fields.ts";
import { type AuthMethod, authMethods } from "./clients.ts";
import { clientSecretOf } from "./handles.ts";
import { oauthFault } from "./oauth-fault.ts";

export interface RegisterDeps {
  readonly db: Db;
  readonly now: () => Date;
  /** The key for `oauth-secrets`. */
  readonly secretKey: Uint8Array;
}

/** How many programs one network may register in an hour. All together may register 50 times as many. */
const registrationsMax = 20;

/**
 * Registers a program (RFC 7591) and returns its metadata as it stands from now on. Fields that mean nothing here are left
 * out. Throws for metadata that cannot be, and when the network has registered too many.
 */
export async function registerClient(
  { db, now, secretKey }: RegisterDeps,
  given: unknown,
  address: string,
): Promise<object> {
  const metadata = objectOf(given);
  const redirectUris = redirectUrisOf(metadata);
  const name = nameOf(metadata, redirectUris);
  const method = methodOf(metadata);
  checkFlow(metadata);
  const at = now();
  const order = { name: "oauth registration", address, max: registrationsMax };
  const seconds = (await takeNetworkTry(db, order, at)) || (await takeStrangersTry(db, order, at));
  if (seconds > 0) {
    const message = "too many programs were registered in the last hour; try again later";
    throw oauthFault("temporarily_unavailable", message, { status: 429, retryAfterSeconds: seconds });
  }
  const id = newId(at);
  const row = { id, name, redirect_uris: redirectUris, auth_method: method };
  await db
    .insertInto("oauth_clients")
    .values({ ...row, created_at: at, used_at: at })
    .execute();
  return {
    client_id: id,
    client_id_issued_at: Math.floor(at.getTime() / 1000),
    ...(method !== "none" && { client_secret: clientSecretOf(secretKey, id), client_secret_expires_at: 0 }),
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: method,
  };
}

/** RFC 7591 has `client_secret_basic` for those who say nothing. */
function methodOf({ token_endpoint_auth_method: wanted = "client_secret_basic" }: Given): AuthMethod {
  const method = authMethods.find((each) => each === wanted);
  if (method === undefined)
    throw oauthFault(
      "invalid_client_metadata",
      `token_endpoint_auth_method: must be ${authMethods.join(", ")}`,
    );
  return method;
}

type Given = Readonly<Record<string, unknown>>;

function checkFlow({
  response_types: responses = ["code"],
  grant_types: grants = ["authorization_code"],
}: Given) {
  if (!Array.isArray(responses) || !responses.includes("code"))
    throw oauthFault("invalid_client_metadata", "response_types: must contain code");
  if (!Array.isArray(grants) || !grants.includes("authorization_code"))
    throw oauthFault("invalid_client_metadata", "grant_types: must contain authorization_code");
}
