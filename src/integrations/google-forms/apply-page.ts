import { sql } from "kysely";
import { isLostRace, untilUndisturbed } from "../../db/lost-races.ts";
import type { Db } from "../../db/open.ts";
import { foldedEmail, saveVisitorAttributes } from "../../visitors/visitor-attributes.ts";
import { lockVisitors } from "../../visitors/visitor-moves.ts";
import type { FormResponse } from "./read-response.ts";
import { holdRun, type Run } from "./runs.ts";

/** Some responses of a form, and what is known of the form once they are applied. */
export interface AppliedPage {
  readonly formId: string;
  readonly publishedId: string;
  readonly responses: readonly FormResponse[];
  readonly watermark: string;
  /** Empty when the listing is complete. */
  readonly pageToken: string;
  readonly newestSeen: string;
  readonly at: Date;
}

/** How many responses were seen for the first time, and how many of those belong to a visitor. */
export interface Applied {
  readonly responses: number;
  readonly visitors: number;
}

/**
 * Applies a page of responses and notes how far the listing is, all in one transaction: a response is applied once, and
 * once more after an edit, however often its page is fetched. Undefined when the run may write nothing any more.
 */
export function applyPage(db: Db, run: Run, page: AppliedPage): Promise<Applied | undefined> {
  return untilUndisturbed(
    () => db.transaction().execute((tx) => applyOnce(tx, run, page)),
    (error) => error instanceof MatchRace || isLostRace(error),
  );
}

/** Visitors were merged or deleted between the look at them and their lock. */
class MatchRace extends Error {
  override readonly name = "MatchRace";
}

async function applyOnce(tx: Db, run: Run, page: AppliedPage): Promise<Applied | undefined> {
  const { workspaceId } = run;
  if (!(await holdRun(tx, run, page.at))) return undefined;
  const known = await submissionsOf(tx, workspaceId, page);
  // An edit that is older than the applied one comes from a listing that began earlier.
  const fresh = page.responses.filter(({ id, submittedAt }) => (known.get(id) ?? "") < submittedAt);
  const matches = await lockMatches(tx, workspaceId, fresh);
  await saveVisitorAttributes(
    tx,
    fresh.toSorted(bySubmission).flatMap((response) => attributesOf(response, matches, run, page.at)),
  );
  await keepSubmissions(tx, workspaceId, page.formId, fresh);
  await keepForm(tx, workspaceId, page);
  const added = fresh.filter(({ id }) => !known.has(id));
  const applied = { responses: added.length, visitors: added.filter(({ id }) => matches.has(id)).length };
  await sql`update google_forms_integrations
    set responses_synced = responses_synced + ${applied.responses},
      visitors_enriched = visitors_enriched + ${applied.visitors}
    where workspace_id = ${workspaceId}`.execute(tx);
  return applied;
}

function bySubmission(a: FormResponse, b: FormResponse): number {
  return a.submittedAt < b.submittedAt ? -1 : Number(a.submittedAt > b.submittedAt);
}

/** The visitor of a response, and the visit that led to the visitor, if one did. */
interface Match {
  readonly visitorId: string;
  readonly eventId?: string;
}

function attributesOf(
  { id, submittedAt, answers }: FormResponse,
  matches: ReadonlyMap<string, Match>,
  { workspaceId }: Run,
  at: Date,
) {
  const match = matches.get(id);
  if (match === undefined) return [];
  // A time of Google's that lies ahead would keep later values out.
  const atMs = Math.min(Date.parse(submittedAt), at.getTime());
  return answers
    .filter(({ eventId }) => eventId === undefined || eventId !== match.eventId)
    .map(({ key, type, value }) => ({
      workspaceId,
      visitorId: match.visitorId,
      key,
      type,
      value,
      setOnce: false,
      atMs,
    }));
}

async function submissionsOf(
  tx: Db,
  workspaceId: string,
  { formId, responses }: AppliedPage,
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx
    .selectFrom("google_forms_responses")
    .select(["response_id", "submitted_at"])
    .where("workspace_id", "=", workspaceId)
    .where("form_id", "=", formId)
    .where("response_id", "in", ["", ...responses.map(({ id }) => id)])
    .execute();
  return new Map(rows.map(({ response_id, submitted_at }) => [response_id, submitted_at]));
}

/** Matches responses with visitors, whose rows stay locked until the transaction ends. */
async function lockMatches(
  tx: Db,
  workspaceId: string,
  responses: readonly FormResponse[],
): Promise<ReadonlyMap<string, Match>> {
  const seen = await matchesOf(tx, workspaceId, responses);
  const visitorIds = [...new Set([...seen.values()].map(({ visitorId }) => visitorId))];
  if (visitorIds.length === 0) return seen;
  await lockVisitors(tx, workspaceId, visitorIds);
  const still = await matchesOf(tx, workspaceId, responses);
  const isSame = responses.every(({ id }) => still.get(id)?.visitorId === seen.get(id)?.visitorId);
  if (!isSame) throw new MatchRace("visitors were changed meanwhile");
  return still;
}

/** How many answers of one response are looked up as visits: one names the visit, others look like it by chance. */
const visitsOfResponse = 5;

/** The visitor of the visit that a response names, or else the one with its e-mail address. */
async function matchesOf(
  tx: Db,
  workspaceId: string,
  responses: readonly FormResponse[],
): Promise<ReadonlyMap<string, Match>> {
  const eventIdsOf = ({ answers }: FormResponse) =>
    answers.flatMap(({ eventId }) => eventId ?? []).slice(0, visitsOfResponse);
  const eventIds = [...new Set(responses.flatMap(eventIdsOf))];
  const emails = [...new Set(responses.flatMap(({ email }) => foldedEmail(email) ?? []))];
  const { rows: events } = await sql<{ id: string; visitor_id: string }>`select id, visitor_id from events
    where workspace_id = ${workspaceId} and id = any(${eventIds}::uuid[]) and visitor_id is not null`.execute(
    tx,
  );
  const { rows: people } = await sql<{ id: string; email: string }>`select id, email from visitors
    where workspace_id = ${workspaceId} and email = any(${emails}::text[])`.execute(tx);
  const ofEvent = new Map(events.map(({ id, visitor_id }) => [id, visitor_id]));
  const ofEmail = new Map(people.map(({ id, email }) => [email, id]));
  const matches = new Map<string, Match>();
  for (const response of responses) {
    const eventId = eventIdsOf(response).find((id) => ofEvent.has(id));
    const byVisit = eventId === undefined ? undefined : ofEvent.get(eventId);
    const byEmail = ofEmail.get(foldedEmail(response.email) ?? "");
    if (byVisit !== undefined && eventId !== undefined)
      matches.set(response.id, { visitorId: byVisit, eventId });
    else if (byEmail !== undefined) matches.set(response.id, { visitorId: byEmail });
  }
  return matches;
}

async function keepSubmissions(
  tx: Db,
  workspaceId: string,
  formId: string,
  responses: readonly FormResponse[],
): Promise<void> {
  if (responses.length === 0) return;
  await sql`insert into google_forms_responses as r (workspace_id, form_id, response_id, submitted_at)
    select ${workspaceId}::uuid, ${formId}::text, id, max(submitted_at)
    from unnest(${responses.map(({ id }) => id)}::text[], ${responses.map(({ submittedAt }) => submittedAt)}::text[])
      as given (id, submitted_at) group by id order by id
    on conflict on constraint google_forms_responses_pkey do update set submitted_at = excluded.submitted_at`.execute(
    tx,
  );
}

async function keepForm(tx: Db, workspaceId: string, page: AppliedPage): Promise<void> {
  const isComplete = page.pageToken === "";
  const known = {
    published_id: page.publishedId,
    accessible: true,
    watermark: page.watermark,
    page_token: page.pageToken,
    newest_seen: page.newestSeen,
  };
  await tx
    .insertInto("google_forms")
    .values({
      ...known,
      workspace_id: workspaceId,
      form_id: page.formId,
      asked_at: isComplete ? page.at : new Date(0),
    })
    .onConflict((conflict) =>
      conflict
        .constraint("google_forms_pkey")
        .doUpdateSet(isComplete ? { ...known, asked_at: page.at } : known),
    )
    .execute();
}
