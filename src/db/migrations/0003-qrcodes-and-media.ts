import { type Kysely, sql } from "kysely";

/**
 * Designs of links and templates, templates with their descriptions, and image files. Records without a workspace,
 * which are built-in templates and unclaimed designs, are stored under the workspace of zeros.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
create type media_type as enum ('CENTRAL_QRCODE_IMAGE', 'BACKGROUND_COVER', 'BADGE');
create type media_visibility as enum ('PUBLIC', 'PRIVATE');

create table media (
  workspace_id uuid not null,
  id uuid not null,
  media_type media_type not null,
  visibility media_visibility not null,
  file_name text not null,
  storage_key text not null,
  size_bytes bigint not null,
  -- Hexadecimal, of the stored file.
  sha256 text not null,
  -- The storage keys of the copies that pages show, once a job has made them.
  page_files text[] not null default '{}',
  uploaded_by uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint media_pkey primary key (workspace_id, id)
);
create index media_page_idx on media (workspace_id, created_at desc, id desc);
create index media_content_idx on media (workspace_id, sha256);

-- A design belongs to at most one record. Its options hold the storage key of the picture in the middle, so that
-- copying the options copies the look.
alter table qrcode_designs add column template_id uuid;
alter table qrcode_designs add constraint qrcode_designs_owner_check check (link_id is null or template_id is null);
create index qrcode_designs_unowned_idx on qrcode_designs (workspace_id, created_at)
  where link_id is null and template_id is null;
create index qrcode_designs_central_image_idx on qrcode_designs (workspace_id, (options ->> 'centralImageKey'))
  where options ->> 'centralImageKey' is not null;

drop table qrcode_templates;
create table qrcode_templates (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null default '',
  tags text not null default '',
  learn_more text not null default '',
  faq text not null default '',
  slug text,
  -- The design.
  look_id uuid not null,
  duplicated_from uuid,
  published_at timestamptz(3),
  thumbnail_key text,
  thumbnail_pending_update_since timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint qrcode_templates_pkey primary key (workspace_id, id)
);
create index qrcode_templates_page_idx on qrcode_templates (workspace_id, created_at desc, id desc);
create index links_qrcode_template_idx on links (workspace_id, qrcode_template_id) where qrcode_template_id is not null;
-- Over all workspaces: links of any of them may have a published template, and forget it with its end.
create index links_published_template_idx on links (qrcode_template_id, workspace_id, id)
  where qrcode_template_id is not null;

-- Global: a slug is unique in the whole service, and the gallery of published templates is read from here.
create table qrcode_template_slugs (
  slug text not null,
  workspace_id uuid not null,
  template_id uuid not null,
  published_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint qrcode_template_slugs_pkey primary key (slug),
  constraint qrcode_template_slugs_template_key unique (template_id)
);
create index qrcode_template_slugs_gallery_idx on qrcode_template_slugs (created_at desc, template_id desc)
  where published_at is not null;

-- Stored files to check: a due file that no record refers to is deleted. The row is written before its file is, and
-- when a record drops the file.
create table file_checks (
  workspace_id uuid not null,
  storage_key text not null,
  owner_id uuid,
  due_at timestamptz(3) not null,
  constraint file_checks_pkey primary key (workspace_id, storage_key)
);
create index file_checks_due_idx on file_checks (workspace_id, due_at);
`;
