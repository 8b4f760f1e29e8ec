import { type Selectable, sql } from "kysely";
import type { CustomDomains } from "../../gen/database.ts";
import { administratorsOf, queueMailTo } from "../db/admin-mails.ts";
import { tellDomainChange, tellWorkspaceChange } from "../db/channels.ts";
import type { Db } from "../db/open.ts";
import type { CertificateDesk } from "./certificates.ts";
import {
  afterCheck,
  awayGraceMs,
  type DnsFindings,
  type DomainFacts,
  isServed,
  nextCheckAt,
  statusOf,
} from "./status.ts";

export type DomainRow = Selectable<CustomDomains>;

export interface DomainKey {
  readonly workspaceId: string;
  readonly id: string;
}

/** What somebody found out about a domain. What is absent stays as it was. */
export interface Learned {
  /** The answers of name servers, and the sentence that says what is wrong with them; empty when nothing is. */
  readonly dns?: DnsFindings & { readonly fault: string };
  readonly certificate?: { readonly expiresAt: Date; readonly needsRenewal: boolean };
  /** Why there is no certificate, or no new one; empty when all is well. */
  readonly certificateFault?: string;
}

export interface SettleDeps {
  readonly certificates: CertificateDesk;
  readonly now: () => Date;
}

/**
 * Writes what is now known of a domain, and all that follows from it: its status, its next check, the order for a
 * certificate, a mail when it stops being served, and the news for every process. Nothing else writes a status. Returns the
 * domain as it is then; undefined when it is gone.
 */
export async function settleDomain(
  tx: Db,
  { certificates, now }: SettleDeps,
  { workspaceId, id }: DomainKey,
  learned: Learned,
): Promise<DomainRow | undefined> {
  // A released name is looked at no more.
  const { rows } = await sql<DomainRow>`
    select d.* from custom_domains d join domain_names n on n.name = d.name and n.custom_domain_id = d.id
    where d.workspace_id = ${workspaceId} and d.id = ${id} and n.released_at is null
    for no key update of d`.execute(tx);
  const [before] = rows;
  if (before === undefined) return undefined;
  const at = now();
  const facts = factsAfter(before, learned, at);
  const status = statusOf(facts, { now: at, needsCertificate: certificates.needed });
  const after = await write(tx, before, { facts, learned, status, at });
  if (status !== before.status) await tell(tx, before, after);
  if (before.away_since === null && after.away_since !== null) await mailAway(tx, after, after.away_since);
  const { name } = after;
  const lacksCertificate =
    facts.certificateExpiresAt === null || facts.certificateNeedsRenewal || status === "EXPIRED";
  // Nobody looks after the certificate of a name that is not served.
  const comesBack = learned.certificate === undefined && isServed(status) && !isServed(before.status);
  const wantsOne = lacksCertificate || comesBack;
  if (certificates.needed && facts.pointsHere && facts.verifiedAt !== null && wantsOne)
    await certificates.order(tx, { workspaceId, id, name });
  return after;
}

function factsAfter(before: DomainRow, { dns, certificate }: Learned, now: Date): DomainFacts {
  const stored: DomainFacts = {
    checkedAt: before.last_checked_at,
    pointsHere: before.points_here,
    awaySince: before.away_since,
    verifiedAt: before.verified_at,
    certificateExpiresAt: certificate?.expiresAt ?? before.certificate_expires_at,
    certificateNeedsRenewal: certificate?.needsRenewal ?? before.certificate_needs_renewal,
  };
  return dns === undefined ? stored : afterCheck(stored, dns, { now, wasServed: isServed(before.status) });
}

interface Change {
  readonly facts: DomainFacts;
  readonly learned: Learned;
  readonly status: DomainRow["status"];
  readonly at: Date;
}

async function write(tx: Db, before: DomainRow, { facts, learned, status, at }: Change): Promise<DomainRow> {
  const hasNewStatus = status !== before.status;
  const after = await tx
    .updateTable("custom_domains")
    .set({
      status,
      last_checked_at: facts.checkedAt,
      points_here: facts.pointsHere,
      away_since: facts.awaySince,
      verified_at: facts.verifiedAt,
      certificate_expires_at: facts.certificateExpiresAt,
      certificate_needs_renewal: facts.certificateNeedsRenewal,
      dns_fault: learned.dns?.fault ?? before.dns_fault,
      certificate_fault: learned.certificateFault ?? before.certificate_fault,
      activated_at: before.activated_at ?? (status === "ACTIVE" ? at : null),
      updated_at: hasNewStatus ? at : before.updated_at,
    })
    .where("workspace_id", "=", before.workspace_id)
    .where("id", "=", before.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const dueAt = nextCheckAt(facts, { createdAt: before.created_at, now: at, isServed: isServed(status) });
  await tx
    .updateTable("domain_names")
    .set({ check_due_at: dueAt })
    .where("name", "=", before.name)
    .where("custom_domain_id", "=", before.id)
    .execute();
  return after;
}

/** Tells every process that a domain has another status, and that its links are served from now on, or no longer. */
async function tell(tx: Db, before: DomainRow, after: DomainRow): Promise<void> {
  const { name, workspace_id } = after;
  await sql`select ${tellDomainChange(name)}`.execute(tx);
  if (isServed(before.status) !== isServed(after.status))
    await sql`select ${tellWorkspaceChange(workspace_id)}`.execute(tx);
}

/** Tells the administrators that the name leads elsewhere, and until when the domain is served all the same. */
async function mailAway(tx: Db, { workspace_id, name, dns_fault }: DomainRow, since: Date): Promise<void> {
  const facts = {
    domain: sql`${name}::text`,
    fault: sql`${dns_fault}::text`,
    servedUntil: sql`${new Date(since.getTime() + awayGraceMs).toISOString()}::text`,
  };
  await sql`select ${queueMailTo({ kind: "domain-away", facts })}
    from (select ${workspace_id}::uuid as id) as w ${administratorsOf(sql.ref("w.id"))}`.execute(tx);
}
