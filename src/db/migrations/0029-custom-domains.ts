import { type Kysely, sql } from "kysely";

/** What is known of custom domains, when names are looked up again, and names that are kept for their former holders. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
alter table custom_domains
  -- The status follows from these facts (src/domains/status.ts).
  -- Whether the name led here when the name servers last told.
  add column points_here boolean not null default false,
  -- Since when a domain that served links has led elsewhere.
  add column away_since timestamptz(3),
  -- When the TXT record was found; null again once the domain has led elsewhere for too long.
  add column verified_at timestamptz(3),
  add column certificate_needs_renewal boolean not null default false,
  -- What to tell the owner, in sentences.
  add column dns_fault text not null default '',
  add column certificate_fault text not null default '',
  drop column last_error;
alter table custom_domains add column last_error text not null
  generated always as (case when dns_fault <> '' then dns_fault else certificate_fault end) stored;
create index custom_domains_page_idx on custom_domains (workspace_id, created_at, id);

alter table domain_names
  -- When a worker looks the name up again; null for never. A worker that begins sets it to a later time.
  add column check_due_at timestamptz(3),
  -- When the latest check began: there is one in ten seconds.
  add column check_began_at timestamptz(3),
  -- When the domain was deleted. Others get the name 90 days later, or when they prove that they own it.
  add column released_at timestamptz(3);
create index domain_names_check_due_idx on domain_names (check_due_at) where released_at is null;
create index domain_names_released_idx on domain_names (released_at) where released_at is not null;

create index links_custom_domain_idx on links (workspace_id, custom_domain_id, created_at, id)
  where deleted_at is null and custom_domain_id is not null;
`;
