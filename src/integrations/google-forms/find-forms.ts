import { type Selectable, sql } from "kysely";
import type { GoogleForms } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import { withinAnswer } from "../../db/within-answer.ts";
import { type FormAddress, readFormAddress } from "./form-address.ts";

/** Redirect steps that may lead to a form. Served by workflow_steps_google_forms_idx, which has the same condition. */
const mayLeadToForm = sql.raw(`s.event_action = 'CLIENT_REDIRECT'
  and s.payload ->> 'destination' ~* '^https?://(docs[.]google[.]com|forms[.]gle|goo[.]gl)/'`);

const destination = sql.raw(`s.payload ->> 'destination'`);

/** A link that leads to a form. */
export interface FormLink {
  readonly address: FormAddress;
  readonly url: string;
  readonly linkId: string;
  readonly linkName: string;
}

/** The redirects of a workspace's links that lead to a form, newest links first, as many as fit one answer. */
export async function findFormLinks(db: Db, workspaceId: string): Promise<FormLink[]> {
  const order = sql`created_at desc, link_id desc, step_id`;
  const steps = sql`select l.created_at, s.link_id, s.id as step_id, l.name, ${destination} as url
    from workflow_steps s join living_links l on l.workspace_id = s.workspace_id and l.id = s.link_id
    where s.workspace_id = ${workspaceId} and ${mayLeadToForm}`;
  const bytes = sql`octet_length(page.name) + octet_length(page.url) + 300`;
  const { rows } = await sql<{ link_id: string; name: string; url: string }>`${withinAnswer(steps, {
    bytes,
    order,
  })}`.execute(db);
  return rows.flatMap(({ link_id, name, url }) => {
    const address = readFormAddress(url);
    return address === undefined ? [] : [{ address, url, linkId: link_id, linkName: name }];
  });
}

export type KnownForm = Selectable<GoogleForms>;

/** How many forms of a workspace are fetched. */
const formsMax = 500;

/** What the workspace knows of forms that it has asked for, at most twice as many as it fetches. */
export async function knownForms(db: Db, workspaceId: string): Promise<KnownForm[]> {
  return await db
    .selectFrom("google_forms")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .orderBy("asked_at", "desc")
    .limit(2 * formsMax)
    .execute();
}

/** A form that is to be asked, and what is known of it. */
export type FormTurn = Pick<KnownForm, "form_id"> & Partial<KnownForm>;

/**
 * The forms that links lead to and that were not asked since the round began: those that were never asked first, those
 * in the middle of a listing last. A public address leads to a form whose public id is known.
 */
export async function formsToAsk(
  db: Db,
  { workspaceId, roundBeganAt }: { readonly workspaceId: string; readonly roundBeganAt: Date },
): Promise<FormTurn[]> {
  const { rows } = await sql<{ [Column in keyof FormTurn]: FormTurn[Column] | null } & { wanted_id: string }>`
    with detected as (
      select distinct ${idIn("d/")} as form_id, ${idIn("d/e/")} as published_id
      from workflow_steps s join living_links l on l.workspace_id = s.workspace_id and l.id = s.link_id
      where s.workspace_id = ${workspaceId} and ${mayLeadToForm}),
    wanted as (
      select form_id from detected where form_id is not null
      union select f.form_id from google_forms f join detected d on d.published_id = f.published_id
        where f.workspace_id = ${workspaceId})
    select wanted.form_id as wanted_id, f.* from wanted
    left join google_forms f on f.workspace_id = ${workspaceId} and f.form_id = wanted.form_id
    where f.asked_at is null or f.asked_at < ${roundBeganAt}
    order by coalesce(f.page_token, '') <> '', f.asked_at nulls first, wanted.form_id
    limit ${formsMax}`.execute(db);
  return rows.map(({ wanted_id, ...known }) =>
    known.asked_at === null ? { form_id: wanted_id } : { ...(known as KnownForm), form_id: wanted_id },
  );
}

/** The id after `place` in the path of a form's address, as `readFormAddress` finds it. */
function idIn(place: "d/" | "d/e/") {
  const account = "(?:[au]/[^/?#]*/)?";
  const form = `(?i)^https?://docs[.]google[.]com/${account}forms/${account}${place}([a-z0-9_-]{10,200})(?:[/?#]|$)`;
  return sql`substring(${destination} from ${form}::text)`;
}
