import { timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { isUuid } from "../lib/ids.ts";
import { clientSecretOf } from "./handles.ts";
import { oauthFault } from "./oauth-fault.ts";

/** How a program proves itself at the token endpoint. `none` is for programs that cannot keep a secret. */
export type AuthMethod = "none" | "client_secret_basic" | "client_secret_post";

export const authMethods: readonly AuthMethod[] = ["none", "client_secret_basic", "client_secret_post"];

/** A program that asks members for access. Nobody has checked what it says about itself. */
export interface Client {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly authMethod: AuthMethod;
}

/** A program that registered itself. */
export async function findClient(db: Db, id: string): Promise<Client | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await db
    .selectFrom("oauth_clients")
    .select(["id", "name", "redirect_uris", "auth_method"])
    .where("id", "=", id)
    .executeTakeFirst();
  // Only registration writes the column, with one of these methods.
  return (
    row && {
      id: row.id,
      name: row.name,
      redirectUris: row.redirect_uris,
      authMethod: row.auth_method as AuthMethod,
    }
  );
}

/** What a program says about itself at the token endpoint. */
export interface ClientProof {
  readonly clientId: string;
  readonly secret: string | undefined;
  readonly method: AuthMethod;
}

/** Reads who asks from the `Authorization` header, or else from the form. Throws `invalid_client` for a broken header. */
export function readProof(form: ReadonlyMap<string, string>, authorization: string | undefined): ClientProof {
  const [clientId, secret] = [form.get("client_id"), form.get("client_secret")];
  if (authorization === undefined)
    return { clientId: clientId ?? "", secret, method: secret === undefined ? "none" : "client_secret_post" };
  const given = /^Basic +([\w+/=-]{1,4096})$/i.exec(authorization)?.[1];
  const [id = "", ...rest] = Buffer.from(given ?? "", "base64")
    .toString()
    .split(":");
  const named = decoded(id);
  if (rest.length === 0 || named === undefined || (clientId !== undefined && clientId !== named))
    throw notKnown();
  return { clientId: named, secret: decoded(rest.join(":")), method: "client_secret_basic" };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/**
 * Throws `invalid_client` unless the program has proved itself as it registered to. A program without a registration is known
 * by its document or is an agent, and has no secret.
 */
export async function checkClient(db: Db, proof: ClientProof, secretKey: Uint8Array): Promise<void> {
  const client = await findClient(db, proof.clientId);
  const method = client?.authMethod ?? "none";
  if (method === "none" ? proof.secret !== undefined : proof.method !== method) throw notKnown();
  if (method === "none") return;
  const [wanted, given] = [
    Buffer.from(clientSecretOf(secretKey, proof.clientId)),
    Buffer.from(proof.secret ?? ""),
  ];
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) throw notKnown();
}

function notKnown() {
  return oauthFault("invalid_client", "the program has not proved itself in the way it registered to", {
    status: 401,
  });
}

/** Notes once a day that a program is in use. */
export async function noteClient(db: Db, id: string, at: Date): Promise<void> {
  if (!isUuid(id)) return;
  await sql`update oauth_clients set used_at = ${at}
    where id = ${id} and (used_at = created_at or used_at < ${at}::timestamptz - interval '1 day')`.execute(
    db,
  );
}

/** Deletes programs without a grant: after 7 days if they never had one, else after 90 days. Returns how many. */
export async function deleteIdleClients(db: Db, at: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from oauth_clients where id in (
      select id from oauth_clients
      where used_at < ${at}::timestamptz - case when used_at = created_at then interval '7 days' else interval '90 days' end
      order by used_at limit 1000 for update skip locked)`.execute(db);
  return Number(numAffectedRows);
}
