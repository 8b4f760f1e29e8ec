import { randomUUID } from "node:crypto";
import { type Selectable, sql } from "kysely";
import type { CertificateAuthorities, Certificates } from "../../gen/database.ts";
import { textArray } from "../db/array-literal.ts";
import { tellDomainChange } from "../db/channels.ts";
import type { Db } from "../db/open.ts";

/** A name whose turn it is, for the run that looks after it. No other run may at the same time. */
export type Turn = Selectable<Certificates> & { readonly run: string };

/** The domain that a name belongs to. */
export interface Holder {
  readonly workspaceId: string;
  readonly id: string;
}

/** How long a run may take, in milliseconds: orders at two authorities, and then some. */
export const runMs = 6 * 60_000;

/** Begins a run for the name that has been due for longest. Undefined when none is due. */
export async function beginTurn(db: Db, at: Date): Promise<Turn | undefined> {
  const run = randomUUID();
  const { rows } = await sql<Selectable<Certificates>>`
    update certificates set run = ${run}, run_until = ${new Date(at.getTime() + runMs)}
    where name = (
      select name from certificates
      where next_at <= ${at} and (run_until is null or run_until <= ${at})
      order by next_at, name limit 1 for update skip locked)
    returning *`.execute(db);
  return rows[0] && { ...rows[0], run };
}

/** The domain that wants a certificate for a name: it points here and is owned, or is served already. */
export async function findHolder(db: Db, name: string): Promise<Holder | undefined> {
  const { rows } = await sql<{ workspaceId: string; id: string }>`
    select d.workspace_id as "workspaceId", d.id
    from domain_names n
    join custom_domains d on d.workspace_id = n.workspace_id and d.id = n.custom_domain_id
    join workspaces w on w.id = n.workspace_id
    where n.name = ${name} and n.released_at is null and w.deleted_at is null
      and d.status in ('CERTIFICATE_PENDING', 'ACTIVE', 'RENEWAL_PENDING', 'EXPIRED')`.execute(db);
  return rows[0];
}

/** The certificate of a name as it is kept. */
export interface KeptCertificate {
  readonly chain: string;
  readonly sealedKey: Buffer;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly directory: string;
  readonly renewalId: string;
  readonly renewAt: Date;
}

/** Keeps a new certificate. False when another run has taken the name over. */
export async function keepCertificate(
  tx: Db,
  { name, run }: Turn,
  kept: KeptCertificate,
  { at, nextAt }: { readonly at: Date; readonly nextAt: Date },
): Promise<boolean> {
  const { rows } = await sql`
    update certificates
    set chain = ${kept.chain}, private_key = ${kept.sealedKey}, not_before = ${kept.notBefore},
      not_after = ${kept.notAfter}, directory = ${kept.directory}, renewal_id = ${kept.renewalId},
      renew_at = ${kept.renewAt}, next_at = ${nextAt}, failures = 0, last_error = '', run = null, run_until = null,
      updated_at = ${at}
    where name = ${name} and run = ${run} returning ${tellDomainChange(name)}`.execute(tx);
  return rows.length > 0;
}

/** How a run ends that got no certificate. */
export interface TurnEnd {
  /** Null when nobody wants one. */
  readonly nextAt: Date | null;
  readonly renewAt: Date | null;
  readonly failures: number;
  readonly lastError: string;
}

/** Ends a run. False when another one has taken the name over. */
export async function endTurn(tx: Db, { name, run }: Turn, end: TurnEnd): Promise<boolean> {
  const { rows } = await sql`
    update certificates
    set next_at = ${end.nextAt}, renew_at = ${end.renewAt}, failures = ${end.failures}, last_error = ${end.lastError},
      run = null, run_until = null
    where name = ${name} and run = ${run} returning name`.execute(tx);
  return rows.length > 0;
}

/** Sees to it that the service's own hosts have rows. */
export async function wantOwnCertificates(db: Db, names: readonly string[], at: Date): Promise<void> {
  await sql`
    insert into certificates (name, next_at, created_at, updated_at)
    select name, ${at}, ${at}, ${at} from unnest(${textArray(names)}::text[]) as own (name)
    on conflict on constraint certificates_pkey do update set next_at = excluded.next_at
    where certificates.next_at is null`.execute(db);
}

/** What is known of the authorities that cannot be asked now: until when, by directory. */
export async function pausesOf(db: Db, directories: readonly string[], at: Date): Promise<Map<string, Date>> {
  const { rows } = await sql<Pick<Selectable<CertificateAuthorities>, "directory" | "paused_until">>`
    select directory, paused_until from certificate_authorities
    where directory = any(${textArray(directories)}::text[]) and paused_until > ${at}`.execute(db);
  return new Map(
    rows.flatMap(({ directory, paused_until: until }) => (until === null ? [] : [[directory, until]])),
  );
}

/** Notes that an authority failed to answer, and gives how often it did in a row. */
export async function countSilence(db: Db, directory: string): Promise<number> {
  const { rows } = await sql<Pick<Selectable<CertificateAuthorities>, "failures">>`
    update certificate_authorities set failures = failures + 1 where directory = ${directory} returning failures`.execute(
    db,
  );
  return rows[0]?.failures ?? 1;
}

/** Leaves an authority alone until a moment. */
export async function pauseAuthority(db: Db, directory: string, until: Date): Promise<void> {
  await sql`update certificate_authorities set paused_until = ${until} where directory = ${directory}`.execute(
    db,
  );
}

/** Notes that an authority answers again. */
export async function noteAnswer(db: Db, directory: string): Promise<void> {
  await sql`
    update certificate_authorities set failures = 0, paused_until = null
    where directory = ${directory} and (failures > 0 or paused_until is not null)`.execute(db);
}

/** Deletes certificates of names that nobody holds any more, with their keys, and challenges that are over. */
export async function sweepCertificates(db: Db, ownNames: readonly string[], at: Date): Promise<void> {
  await sql`
    delete from certificates c
    where c.name <> all(${textArray(ownNames)}::text[])
      and not exists (select from domain_names n where n.name = c.name and n.released_at is null)
      and (c.run_until is null or c.run_until <= ${at})
      -- Whoever registers a name again still waits after a failed order.
      and (c.failures = 0 or c.next_at is null or c.next_at <= ${at})`.execute(db);
  await sql`delete from certificate_challenges where expires_at <= ${at}`.execute(db);
}
