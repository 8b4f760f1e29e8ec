import { type RawBuilder, sql } from "kysely";
import type { Storage } from "../lib/storage/storage.ts";
import { noWorkspace } from "../model/no-workspace.ts";
import type { Db } from "./open.ts";

/** How long a file outlives the last record that refers to it, in milliseconds: longer than its addresses are valid. */
const graceMs = 2 * 60 * 60 * 1000;

/** A stored file and the record that it belongs to. */
export interface OwnedFile {
  /** The workspace of zeros for shared files, which are named by their content. */
  readonly workspaceId: string;
  readonly key: string;
  /** The link, template, media record or export; null for shared files. */
  readonly ownerId: string | null;
}

/**
 * Notes that a file is to be checked once all its addresses have expired: the check deletes it unless a record refers
 * to it. Write the note before the file is stored, and when a record drops a file.
 */
export async function checkFileLater(db: Db, file: OwnedFile, now: Date): Promise<void> {
  await sql`${fileCheckOf(
    sql`select ${file.workspaceId}::uuid, ${file.key}::text, ${file.ownerId}::uuid`,
    now,
  )}`.execute(db);
}

/** Writes the same notes as a part of a statement, for the files that `files` selects: workspace, key, owner. */
export function fileCheckOf(files: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  const due = new Date(now.getTime() + graceMs);
  return sql`insert into file_checks as known (workspace_id, storage_key, owner_id, due_at)
    select distinct on (workspace_id, storage_key) *, ${due}::timestamptz
    from (${files}) as files (workspace_id, storage_key, owner_id)
    on conflict on constraint file_checks_pkey do update set due_at = greatest(known.due_at, excluded.due_at)`;
}

export interface FileStore {
  readonly storage: Storage;
  readonly now: () => Date;
}

/**
 * Stores a file that a record is about to refer to. If the record is never written, the check deletes the file; so the
 * note must survive a rollback of the record, and `db` is outside of the record's transaction. `make` is called only
 * when no file of this key exists yet: keys derive from the content.
 */
export async function storeFile(
  db: Db,
  { storage, now }: FileStore,
  file: OwnedFile,
  make: () => Promise<{ readonly bytes: Uint8Array; readonly contentType: string }>,
): Promise<void> {
  if (db.isTransaction) throw new Error("a note about a file would be undone with its transaction");
  // The note comes before the look at the storage: a clean-up that is deleting the file holds the note's row until it
  // is done.
  await checkFileLater(db, file, now());
  if ((await storage.get(file.key)) !== undefined) return;
  const { bytes, contentType } = await make();
  await storage.put(file.key, bytes, { contentType });
}

/** The same for several new files of one record. */
export async function storeFiles(
  db: Db,
  { storage, now }: FileStore,
  owner: Omit<OwnedFile, "key">,
  files: readonly { readonly key: string; readonly bytes: Uint8Array; readonly contentType: string }[],
): Promise<void> {
  if (db.isTransaction) throw new Error("a note about a file would be undone with its transaction");
  const keys = files.map(({ key }) => key);
  await sql`${fileCheckOf(
    sql`select ${owner.workspaceId}::uuid, key, ${owner.ownerId}::uuid from unnest(${keys}::text[]) as key`,
    now(),
  )}`.execute(db);
  await Promise.all(files.map(({ key, bytes, contentType }) => storage.put(key, bytes, { contentType })));
}

/** Deletes the due files that no record refers to, a hundred at a time. Returns how many it checked. */
export async function sweepFiles(db: Db, { storage, now }: FileStore): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ storage_key: string; is_used: boolean }>`
      with due as (
        delete from file_checks where (workspace_id, storage_key) in (
          select workspace_id, storage_key from file_checks where due_at < ${now()}
          order by due_at limit 100 for update skip locked)
        returning workspace_id, storage_key, owner_id)
      select storage_key, exists (select from links l where l.workspace_id = due.workspace_id and l.id = due.owner_id
            and l.qrcode_image_key = due.storage_key and l.deleted_at is null)
          or exists (select from qrcode_templates t where t.workspace_id = due.workspace_id
            and t.id = due.owner_id and t.thumbnail_key = due.storage_key)
          or exists (select from page_theme_templates t where t.workspace_id = due.workspace_id
            and t.id = due.owner_id and t.thumbnail_key = due.storage_key)
          or exists (select from media m where m.workspace_id = due.workspace_id and m.id = due.owner_id
            and due.storage_key = any (m.page_files || m.storage_key))
          or exists (select from exports e where e.workspace_id = due.workspace_id and e.id = due.owner_id
            and e.storage_key = due.storage_key)
          -- Files shared by the designs of all workspaces.
          or due.workspace_id = ${noWorkspace} and exists (select from qrcode_designs q
            where q.options ->> 'centralImageKey' = due.storage_key) as is_used
      from due`.execute(tx);
    for (const { storage_key, is_used } of rows) if (!is_used) await storage.delete(storage_key);
    return rows.length;
  });
}
