import { sql } from "kysely";
import { type Db, inTransaction } from "../db/open.ts";
import type { Domains } from "./domains.ts";
import { beginDueChecks, type DueName, releaseName } from "./names.ts";
import { type DomainKey, type DomainRow, settleDomain } from "./settle.ts";
import { unverifiedMs } from "./status.ts";

export interface CheckDeps {
  readonly db: Db;
  readonly domains: Domains;
  readonly now: () => Date;
}

/** How many checks one statement begins, and how many run at the same time. */
const portion = 20;
const atOnce = 8;

/**
 * Looks up the names whose time has come, and deletes domains that were never proved in their time. What one worker begins no
 * other one does. A check that is cut short is due again minutes later.
 */
export async function checkDueDomains(deps: CheckDeps, signal: AbortSignal): Promise<void> {
  const failures: unknown[] = [];
  while (!signal.aborted) {
    const due = [...(await beginDueChecks(deps.db, deps.now(), portion))];
    if (due.length === 0) break;
    const takeTurns = async () => {
      for (let next = due.pop(); next !== undefined; next = due.pop())
        // One domain that fails does not hold up the others.
        await checkDue(deps, next, signal).catch((error: unknown) => failures.push(error));
    };
    await Promise.all(Array.from({ length: atOnce }, takeTurns));
  }
  if (failures.length > 0) throw failures[0];
}

async function checkDue(deps: CheckDeps, due: DueName, signal: AbortSignal): Promise<void> {
  const { db, domains, now } = deps;
  const before = await findDomain(db, due);
  if (before === undefined) return;
  const isUnproved = before.verified_at === null && before.activated_at === null;
  if (isUnproved && now().getTime() >= before.created_at.getTime() + unverifiedMs) {
    await inTransaction(db, (tx) => deleteUnproved(tx, due));
    return;
  }
  const { name, workspaceId } = due;
  const dns = await domains.check({ workspaceId, name, needsProof: before.verified_at === null }, signal);
  await inTransaction(db, (tx) =>
    settleDomain(tx, { certificates: domains.certificates, now }, due, { dns }),
  );
}

export async function findDomain(db: Db, { workspaceId, id }: DomainKey): Promise<DomainRow | undefined> {
  return db
    .selectFrom("custom_domains")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Deletes a domain that was not proved within its time. It never had a link. A proof that came at this moment keeps it. */
async function deleteUnproved(tx: Db, { workspaceId, id, name }: DueName): Promise<void> {
  const { numAffectedRows = 0n } = await sql`
    delete from custom_domains where workspace_id = ${workspaceId} and id = ${id}
      and verified_at is null and activated_at is null`.execute(tx);
  if (numAffectedRows > 0n) await releaseName(tx, { name, id, at: new Date(0), wasProved: false });
}
