import { type Selectable, sql } from "kysely";
import type { CertificateAuthorities } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { KeyBox } from "../key-box.ts";
import type { Authority } from "./authority.ts";
import { AcmeFault, accountsFault } from "./fault.ts";
import { newKeyPair, openAccountKey, pemOf } from "./keys.ts";
import type { Account } from "./order.ts";

export interface AccountDeps {
  readonly db: Db;
  readonly keyBox: KeyBox;
  readonly email: string | undefined;
  readonly now: () => Date;
}

type AuthorityRow = Pick<Selectable<CertificateAuthorities>, "account_url" | "private_key">;

/** The service's account at an authority, which is made with its first use. All processes share it. */
export async function openAccount(
  deps: AccountDeps,
  {
    directory,
    authority,
    signal,
  }: { readonly directory: string; readonly authority: Authority; readonly signal: AbortSignal },
): Promise<Account> {
  const { db, keyBox, email } = deps;
  const row = (await findRow(db, directory)) ?? (await insertRow(deps, directory));
  const key = await openAccountKey(keyBox.open(row.private_key, directory));
  if (row.account_url !== "") return { authority, key, url: row.account_url };
  const { newAccount } = await authority.directory(signal);
  const contact = email === undefined ? [] : [`mailto:${email}`];
  const payload = { termsOfServiceAgreed: true, contact };
  const { headers } = await accountsFault(authority.post(newAccount, { payload, sign: key.signNew, signal }));
  const url = headers.get("location") ?? "";
  if (!url.startsWith("https://"))
    throw new AcmeFault("away", "The certificate authority gave the account no address.");
  await sql`
    update certificate_authorities set account_url = ${url}
    where directory = ${directory} and private_key = ${row.private_key}`.execute(db);
  return { authority, key, url };
}

/** Forgets an account that the authority does not know any more. The next order makes another one, with another key. */
export async function forgetAccount(db: Db, directory: string, accountUrl: string): Promise<void> {
  await sql`delete from certificate_authorities
    where directory = ${directory} and account_url = ${accountUrl}`.execute(db);
}

async function findRow(db: Db, directory: string): Promise<AuthorityRow | undefined> {
  const { rows } = await sql<AuthorityRow>`
    select account_url, private_key from certificate_authorities where directory = ${directory}`.execute(db);
  return rows[0];
}

async function insertRow({ db, keyBox, now }: AccountDeps, directory: string): Promise<AuthorityRow> {
  const pem = await pemOf((await newKeyPair()).privateKey);
  await sql`
    insert into certificate_authorities (directory, private_key, created_at)
    values (${directory}, ${keyBox.seal(pem, directory)}, ${now()})
    on conflict on constraint certificate_authorities_pkey do nothing`.execute(db);
  // Of two processes one has made the key.
  const row = await findRow(db, directory);
  if (row === undefined) throw new Error("the account's row was deleted while it was made");
  return row;
}
