import { type Selectable, sql } from "kysely";
import type { Workspaces } from "../../../gen/database.ts";
import { type Db, violates } from "../../db/open.ts";
import { fail } from "../../lib/errors.ts";

type Row = Selectable<Workspaces>;

/** A workspace, and those of the asked hosts that are on the block list. */
export type LockedWorkspace = Row & { readonly blocked_hosts: readonly string[] };

/** Locks a living workspace until the transaction ends. */
export async function lockWorkspace(
  tx: Db,
  workspaceId: string,
  screenedHosts: readonly string[] = [],
): Promise<LockedWorkspace | undefined> {
  const { rows } = await sql<LockedWorkspace>`
    select w.*, array(select host from blocked_hosts where host = any(${screenedHosts})) as blocked_hosts
    from workspaces w where id = ${workspaceId} and deleted_at is null for no key update of w`.execute(tx);
  return rows[0];
}

/** The fields that a call may change. */
export type Described = Pick<
  Row,
  | "name"
  | "slug"
  | "short_description"
  | "description"
  | "website"
  | "tags"
  | "faq"
  | "digest_frequency"
  | "enforce_mfa"
>;

/** Writes the description of a locked workspace. Throws SLUG_TAKEN when another workspace has the slug. */
export async function describeWorkspace(tx: Db, id: string, after: Described, at: Date): Promise<Row> {
  try {
    return await tx
      .updateTable("workspaces")
      .set({ ...after, updated_at: at })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (!violates(error, "workspaces_slug_key")) throw error;
    const { slug } = after;
    throw fail("ALREADY_EXISTS", "SLUG_TAKEN", `slug: ${slug} is in use; choose another`, {
      metadata: { slug: slug ?? "" },
    });
  }
}

/** Keeps a text for the operator or the assistant. `updated_at` stays, because no answer contains the text. */
export async function keepText(
  db: Db,
  workspaceId: string,
  text: Partial<Pick<Row, "origin_inquiry" | "origin_purpose">>,
): Promise<void> {
  await db
    .updateTable("workspaces")
    .set(text)
    .where("id", "=", workspaceId)
    .where("deleted_at", "is", null)
    .execute();
}

/** Writes whether a locked workspace has asked to be public, and whether it is. */
export async function writeEnrollment(
  tx: Db,
  id: string,
  enrollment: Pick<Row, "enroll_requested_at" | "enroll_message" | "published_at">,
  at: Date,
): Promise<void> {
  await tx
    .updateTable("workspaces")
    .set({ ...enrollment, updated_at: at })
    .where("id", "=", id)
    .execute();
}
