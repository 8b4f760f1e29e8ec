import { type Selectable, sql } from "kysely";
import type { CertificateChallenges } from "../../gen/database.ts";
import type { Db } from "../db/open.ts";

/** How long an answer stands ready, in milliseconds: longer than an order takes. */
export const challengeMs = 60 * 60_000;

type Challenge = Omit<Selectable<CertificateChallenges>, "expires_at">;

/** Makes an answer known to all processes. */
export async function keepChallenge(db: Db, challenge: Challenge, at: Date): Promise<void> {
  const until = new Date(at.getTime() + challengeMs);
  await sql`
    insert into certificate_challenges (name, token, key_authorization, chain, private_key, expires_at)
    values (${challenge.name}, ${challenge.token}, ${challenge.key_authorization}, ${challenge.chain},
      ${challenge.private_key}, ${until})
    on conflict on constraint certificate_challenges_pkey do update
    set key_authorization = excluded.key_authorization, chain = excluded.chain, private_key = excluded.private_key,
      expires_at = excluded.expires_at`.execute(db);
}

/** Forgets the answers for a name. */
export async function dropChallenges(db: Db, name: string): Promise<void> {
  await sql`delete from certificate_challenges where name = ${name}`.execute(db);
}

/** The answer over HTTP to the challenge of a name; undefined when there is none. */
export async function findAuthorization(
  db: Db,
  name: string,
  token: string,
  at: Date,
): Promise<string | undefined> {
  const { rows } = await sql<Pick<Challenge, "key_authorization">>`
    select key_authorization from certificate_challenges
    where name = ${name} and token = ${token} and expires_at > ${at}`.execute(db);
  return rows[0]?.key_authorization;
}

/** The newest answer over TLS to a challenge of a name; undefined when there is none. */
export async function findChallengeCertificate(
  db: Db,
  name: string,
  at: Date,
): Promise<Pick<Challenge, "chain" | "private_key"> | undefined> {
  const { rows } = await sql<Pick<Challenge, "chain" | "private_key">>`
    select chain, private_key from certificate_challenges
    where name = ${name} and expires_at > ${at} order by expires_at desc, token limit 1`.execute(db);
  return rows[0];
}
