import type { JsonObject } from "@bufbuild/protobuf";
import { sql } from "kysely";
import type { Json } from "../../../gen/database.ts";
import { tellLinkChange } from "../../db/channels.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { prepared } from "../../db/prepared.ts";
import { isFreeFor } from "../../domains/free-shortlinks.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { Deps } from "../deps.ts";
import { type Charge, chargeFor, nameOfCharge } from "../resources/credit-queries.ts";
import type { TagRow } from "../resources/tag.ts";
import { type AttachedTag, attachedTags, attachTags } from "./tag-writes.ts";

/** Everything a new link consists of. */
export interface NewLink {
  readonly workspaceId: string;
  readonly id: string;
  readonly at: Date;
  /** The name of the custom domain, or empty for the default short domain. */
  readonly host: string;
  readonly shortlink: string;
  readonly name: string;
  readonly customDomainId: string | null;
  readonly directoryId: string | null;
  readonly fallbackDestination: string;
  readonly expiresAt: Date | null;
  readonly expiredDestination: string;
  readonly purpose: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly design:
    | { readonly id: string; readonly options: Json }
    | { readonly id: string; readonly options?: never };
  readonly qrcodeTemplateId: string | null;
  readonly entryStepId: string;
  readonly exit: ExitStep;
  readonly tags: readonly AttachedTag[];
}

/** The step that the entry leads to in a new link. */
export interface ExitStep {
  readonly stepId: string;
  readonly action: "CLIENT_REDIRECT" | "CONTACT_CARD" | "THANK_YOU_PAGE";
  /** As it is stored. */
  readonly payload: JsonObject;
}

/** New links of one workspace. */
export interface NewLinks {
  readonly workspaceId: string;
  readonly at: Date;
  /** A short link that was released before this time is free again. */
  readonly releasedBefore: Date;
  readonly links: readonly NewLink[];
  /** The hosts that must not be on the block list. */
  readonly screenedHosts: readonly string[];
  readonly jobCalls: Deps["jobCalls"];
  /** The priority of the jobs that draw the QR images. */
  readonly drawingPriority: number;
  /** What the links cost together; undefined where nobody counts it. */
  readonly charge: Charge | undefined;
}

export interface Insertion {
  readonly blocked_hosts: readonly string[];
  /** The links that got their short links. */
  readonly claimed: readonly string[];
  /** All tags of the links, each once. */
  readonly tags: readonly TagRow[];
}

/**
 * Makes links with their designs, their two connected steps, their tags and their counters, queues their images and
 * tells the scan runtime, in one statement, which also charges for them. Breaks `links_pkey` when an id is taken, and
 * `coveredCheck` when the credits do not suffice. When a host is blocked, nothing is written. When a
 * short link is taken, only the others are claimed: the caller then undoes its transaction, unless the one link was the
 * only one.
 */
export async function insertLinks(db: Db, wanted: NewLinks): Promise<Insertion> {
  const { links } = wanted;
  const tags = links.flatMap((link) => link.tags);
  const ofMade = { workspaceId: sql.ref("made.workspace_id"), linkId: sql.ref("made.link_id") };
  const drawing = wanted.jobCalls("render-qrcode", ofMade, {
    rows: sql.raw("made"),
    priority: wanted.drawingPriority,
  });
  const isOwn = links.every(({ design }) => design.options !== undefined);
  const statement = sql<Insertion>`
    with given as (select row.*, ${wanted.workspaceId}::uuid as workspace_id, ${wanted.at}::timestamptz as at
        from jsonb_to_recordset(${JSON.stringify(links.map(toRow))}::jsonb) as row (${columns})),
      blocked as (select host from blocked_hosts where host = any(${wanted.screenedHosts})),
      claimed as (
        insert into shortlinks (host, shortlink, workspace_id, link_id)
        select host, shortlink, workspace_id, link_id from given where not exists (select from blocked)
        order by host, shortlink
        on conflict (host, shortlink) do update
          set workspace_id = excluded.workspace_id, link_id = excluded.link_id, released_at = null
          where ${isFreeFor(sql`excluded.workspace_id`, wanted.releasedBefore)}
        returning link_id),
      made as (select * from given where (select count(*) from claimed) = ${links.length}),
      link as (
        insert into links (workspace_id, id, name, shortlink, custom_domain_id, directory_id, fallback_destination,
          expires_at, expired_destination, purpose, metadata, qrcode_design_id, qrcode_template_id,
          qrcode_pending_update_since, created_at, updated_at)
        select workspace_id, link_id, name, shortlink, custom_domain_id, directory_id, fallback_destination,
          expires_at, expired_destination, purpose, metadata, design_id, qrcode_template_id, at, at, at from made),
      ${isOwn ? sql`${ownDesigns},` : designs}
      step as (
        insert into workflow_steps (workspace_id, link_id, id, event_action, payload, canvas_x, canvas_y, created_at,
          updated_at)
        select workspace_id, link_id, entry_id, 'LINK_VISIT'::event_action, '{}'::jsonb, 0, 0, at, at from made
        union all select workspace_id, link_id, exit_id, action, payload, 320, 0, at, at from made),
      connection as (
        insert into workflow_connections (workspace_id, link_id, step_id, branch_id, next_step_id)
        select workspace_id, link_id, entry_id, 'next', exit_id from made),
      counter as (
        insert into link_counters (workspace_id, link_id) select workspace_id, link_id from made
        on conflict on constraint link_counters_pkey do nothing),
      ${attachTags(tags)}
      ${wanted.charge === undefined ? sql`` : sql`${chargeFor(wanted.charge)},`}
      job as (select from ${drawing}),
      notice as (select ${tellLinkChange(sql.ref("host"), sql.ref("shortlink"))} from made)
    select array(select host from blocked) as blocked_hosts, array(select link_id from claimed) as claimed,
      ${attachedTags(tags)} as tags,
      -- Counted, because PostgreSQL does not run what nothing reads.
      (select count(*) from job) + (select count(*) from notice) ${wanted.charge === undefined ? sql`` : sql`+ (select count(*) from mail)`}
        as told`;
  // The text depends only on whether there are tags, designs of others, and a charge. Planning takes longer than
  // running.
  const charged = wanted.charge === undefined ? "" : nameOfCharge(wanted.charge);
  const name = `insert-links${tags.length === 0 ? "" : "-tagged"}${isOwn ? "" : "-designed"}${charged}`;
  const { rows } = await db.executeQuery(prepared(name, statement.compile(db)));
  return onlyRow(rows);
}

const columns =
  sql.raw(`link_id uuid, host text, shortlink text, name text, custom_domain_id uuid, directory_id uuid,
  fallback_destination text, expires_at timestamptz, expired_destination text, purpose text, metadata jsonb,
  qrcode_template_id uuid, design_id uuid, design_options jsonb, entry_id uuid, exit_id uuid, action event_action,
  payload jsonb`);

/** A link as a record of `columns`. */
function toRow(link: NewLink): JsonObject {
  return {
    link_id: link.id,
    host: link.host,
    shortlink: link.shortlink,
    name: link.name,
    custom_domain_id: link.customDomainId,
    directory_id: link.directoryId,
    fallback_destination: link.fallbackDestination,
    expires_at: link.expiresAt?.toISOString() ?? null,
    expired_destination: link.expiredDestination,
    purpose: link.purpose,
    metadata: link.metadata,
    qrcode_template_id: link.qrcodeTemplateId,
    design_id: link.design.id,
    design_options: (link.design.options as JsonObject | undefined) ?? null,
    entry_id: link.entryStepId,
    exit_id: link.exit.stepId,
    action: link.exit.action,
    payload: link.exit.payload,
  };
}

const ownDesigns = sql`
      design as (
        insert into qrcode_designs (workspace_id, id, link_id, options, created_at, updated_at)
        select workspace_id, design_id, link_id, design_options, at, at from made where design_options is not null)`;

/** The designs of new links, of which some were made before. A design of no workspace moves to the link's workspace. */
const designs = sql`
      taken as (
        delete from qrcode_designs q using made
        where q.workspace_id in (made.workspace_id, ${noWorkspace}) and q.id = made.design_id
          and made.design_options is null
        returning q.id, q.options, q.created_at),
      ${ownDesigns},
      moved as (
        insert into qrcode_designs (workspace_id, id, link_id, options, created_at, updated_at)
        select made.workspace_id, taken.id, made.link_id, taken.options, taken.created_at, made.at
        from made join taken on taken.id = made.design_id),`;
