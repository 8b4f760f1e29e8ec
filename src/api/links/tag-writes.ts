import { type RawBuilder, sql } from "kysely";
import type { TagRow } from "../resources/tag.ts";
import type { WantedTag } from "./wanted-link.ts";

/** A tag to attach to a link. `id` is used when the workspace has no such tag yet. */
export interface AttachedTag extends WantedTag {
  readonly id: string;
  readonly linkId: string;
}

/**
 * Parts of a statement that attach tags to the links of `made`, each link's tags in their order. Existing tags are only
 * read, so that links with the same popular tag do not wait for each other. A tag that another call makes at the same
 * moment is found by the conflict. The keys are sorted, so that two such calls cannot lock each other out.
 */
export function attachTags(tags: readonly AttachedTag[]): RawBuilder<unknown> {
  if (tags.length === 0) return sql.raw("");
  // Of several spellings, the first stays.
  const each = [...new Map(tags.toReversed().map((tag) => [tag.key, tag])).values()];
  const keys = each.map(({ key }) => key);
  return sql`
      known as (
        select t.id, t.name, t.name_key, t.created_at, t.updated_at from tags t
        where t.workspace_id = (select workspace_id from made limit 1)
          and t.name_key = any(${keys}::text[]) order by t.name_key for key share of t),
      fresh as (
        insert into tags (workspace_id, id, name, name_key, created_at, updated_at)
        select workspace_id, wanted.id, wanted.name, wanted.name_key, at, at
        from (select workspace_id, at from made limit 1) made, unnest(${each.map(({ id }) => id)}::uuid[],
          ${each.map(({ name }) => name)}::text[], ${keys}::text[]) as wanted (id, name, name_key)
        where wanted.name_key not in (select name_key from known) order by wanted.name_key
        on conflict on constraint tags_name_key do update set name_key = excluded.name_key
        returning id, name, name_key, created_at, updated_at),
      attached as (select * from known union all select * from fresh),
      link_tag as (
        insert into link_tags (workspace_id, link_id, tag_id, position)
        select made.workspace_id, made.link_id, attached.id, wanted.position
        from unnest(${tags.map(({ linkId }) => linkId)}::uuid[], ${tags.map(({ key }) => key)}::text[])
          with ordinality as wanted (link_id, name_key, position)
        join made on made.link_id = wanted.link_id join attached on attached.name_key = wanted.name_key
        on conflict on constraint link_tags_pkey do update set position = excluded.position),`;
}

/** A column with the rows of all tags that `attachTags` attaches, each once, as a JSON array. */
export function attachedTags(tags: readonly AttachedTag[]): RawBuilder<unknown> {
  if (tags.length === 0) return sql.raw("'[]'::jsonb");
  return sql.raw("(select coalesce(jsonb_agg(to_jsonb(attached)), '[]') from attached)");
}

/** The rows of tags that were attached to one link, in the link's order. */
export function tagsInOrder(tags: readonly AttachedTag[], attached: readonly TagRow[]): TagRow[] {
  const rows = new Map(attached.map((row) => [row.name_key, row]));
  return tags.flatMap(({ key }) => rows.get(key) ?? []);
}
