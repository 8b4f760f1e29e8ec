import { type Kysely, sql } from "kysely";

/** Templates of page themes, in the shape of those of QR codes, and which themes belong to them or may go by themselves. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}

const schema = `
-- The template whose look a theme is; no link has such a theme, and no list shows it.
alter table page_themes add column template_id uuid;
-- Whether a call made it that gave a link the look of a template. It goes when no link has had it for some time.
alter table page_themes add column is_applied boolean not null default false;
-- Since when no link has had it, as far as a job has seen. Only of themes that may go.
alter table page_themes add column unattached_since timestamptz(3);
drop index page_themes_page_idx;
create index page_themes_page_idx on page_themes (workspace_id, created_at desc, id desc) where template_id is null;
create index page_themes_applied_idx on page_themes (workspace_id, id) where is_applied;

create table page_theme_templates (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null default '',
  tags text not null default '',
  learn_more text not null default '',
  faq text not null default '',
  slug text,
  -- The theme.
  look_id uuid not null,
  -- Hexadecimal. Templates with the same look have the same, see src/model/look/look-hash.ts.
  look_hash text not null,
  duplicated_from uuid,
  published_at timestamptz(3),
  thumbnail_key text,
  thumbnail_pending_update_since timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint page_theme_templates_pkey primary key (workspace_id, id)
);
create index page_theme_templates_page_idx on page_theme_templates (workspace_id, created_at desc, id desc);
create index page_theme_templates_look_idx on page_theme_templates (workspace_id, look_hash, created_at, id);

-- Global: a slug is unique in the whole service, and the gallery of published templates is read from here.
create table page_theme_template_slugs (
  slug text not null,
  workspace_id uuid not null,
  template_id uuid not null,
  published_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint page_theme_template_slugs_pkey primary key (slug),
  constraint page_theme_template_slugs_template_key unique (template_id)
);
create index page_theme_template_slugs_gallery_idx on page_theme_template_slugs (created_at desc, template_id desc)
  where published_at is not null;
create index page_theme_template_slugs_workspace_idx on page_theme_template_slugs (workspace_id);
-- Global: the published templates of one look, the oldest first.
create index page_theme_templates_published_look_idx on page_theme_templates (look_hash, created_at, id)
  where published_at is not null;

create index links_page_theme_idx on links (workspace_id, page_theme_id)
  where page_theme_id is not null and deleted_at is null;
create index links_page_theme_template_idx on links (workspace_id, page_theme_template_id)
  where page_theme_template_id is not null;
-- Over all workspaces: links of any of them may have a published template, and forget it with its end.
create index links_published_page_theme_template_idx on links (page_theme_template_id, workspace_id, id)
  where page_theme_template_id is not null;
`;
