import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../src/db/open.ts";

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  /** PostgreSQL's category of the type, a letter. */
  readonly category: string;
  /** A value of an enum; null for other types. */
  readonly label: string | null;
  readonly isNeeded: boolean;
}

/** All tables of the service, without views and partitions, and what is known of tenants in them. */
export interface WalkedTables {
  /** Adds a row of the workspace to every tenant table that has none, so that no table is walked in vain. */
  fill(workspaceId: string): Promise<void>;
  /** The tables, and the job queue, with a row that names the workspace in any column. */
  naming(workspaceId: string): Promise<string[]>;
}

export async function walkTables(db: Db): Promise<WalkedTables> {
  const columns = await columnsOf(db);
  const byTable = Map.groupBy(columns, ({ table }) => table);
  return {
    async fill(workspaceId) {
      for (const [table, rows] of await tenantRows(db, workspaceId)) {
        const needed = (byTable.get(table) ?? []).filter(({ isNeeded }) => isNeeded);
        if (rows.length > 0) continue;
        const names = needed.map(({ column }) => sql.ref(column));
        const values = needed.map((column) => madeUp(column, workspaceId));
        await sql`insert into ${sql.table(table)} (${sql.join(names)}) values (${sql.join(values)})`.execute(
          db,
        );
      }
    },
    async naming(workspaceId) {
      const named: string[] = [];
      for (const table of [...byTable.keys(), "graphile_worker._private_jobs"]) {
        const { rows } = await sql`select from ${sql.table(table)} t
          where to_jsonb(t)::text like ${`%${workspaceId}%`} limit 1`.execute(db);
        if (rows.length > 0) named.push(table);
      }
      return named;
    },
  };
}

/** The rows of a workspace by table, as texts: every table of the schema that has a `workspace_id`. */
export async function tenantRows(db: Db, workspaceId: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const { table, column } of await columnsOf(db)) {
    if (column !== "workspace_id") continue;
    const { rows } = await sql<{ row: string }>`select to_jsonb(t)::text as row from ${sql.table(table)} t
      where workspace_id = ${workspaceId} order by 1`.execute(db);
    found.set(
      table,
      rows.map(({ row }) => row),
    );
  }
  return found;
}

async function columnsOf(db: Db): Promise<Column[]> {
  const { rows } = await sql<Column>`
    select c.relname as table, a.attname as column, t.typname as type, t.typcategory as category,
      (select enumlabel from pg_enum where enumtypid = t.oid order by enumsortorder limit 1) as label,
      a.attnotnull and not a.atthasdef and a.attidentity = '' as "isNeeded"
    from information_schema.tables i
    join pg_class c on c.oid = (quote_ident(i.table_schema) || '.' || quote_ident(i.table_name))::regclass
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    where i.table_schema = 'public' and i.table_type = 'BASE TABLE' and not c.relispartition
      and c.relname not like 'kysely%'
    order by 1, a.attnum`.execute(db);
  return rows;
}

function madeUp({ column, type, category, label }: Column, workspaceId: string): RawBuilder<unknown> {
  if (column === "workspace_id") return sql`${workspaceId}::uuid`;
  if (label !== null) return sql`${sql.lit(label)}`;
  const value = valuesByType[type] ?? valuesByCategory[category];
  if (value === undefined) throw new Error(`nothing makes up a ${type} for ${column}`);
  // Keys of files have extensions.
  return column.endsWith("_key") && type === "text" ? sql`${sql.raw(value)} || '.png'` : sql.raw(value);
}

const valuesByType: Readonly<Record<string, string>> = {
  uuid: "gen_random_uuid()",
  bytea: "gen_random_uuid()::text::bytea",
  json: "'{}'",
  jsonb: "'{}'",
};

/** By PostgreSQL's categories of types: arrays, booleans, dates and times, numbers, texts. */
const valuesByCategory: Readonly<Record<string, string>> = {
  A: "'{}'",
  B: "false",
  D: "now()",
  N: "0",
  S: "gen_random_uuid()::text",
};
