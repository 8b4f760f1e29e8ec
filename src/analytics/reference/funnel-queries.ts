import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { fallbackStepId } from "../../model/workflow/workflow.ts";
import type { FunnelCounts, Group, StepCounts, Whole } from "../question.ts";
import { countedVisits, idsInScope } from "./counted-visits-queries.ts";
import { choiceIsMade, offeredChoices } from "./offered-choices.ts";

/** How many choices of one action an answer has at most: the links of a workspace offer any number. */
const choicesMax = 100;

/** The traces of the visits, without their data, which are costly to read. The redirect of a fallback is no step. */
function tracesIn(scope: Whole["scope"]): RawBuilder<unknown> {
  return sql`
    from visits v join visit_traces t on t.workspace_id = ${scope.workspaceId} and t.event_id = v.id
    where ${idsInScope(scope, sql.raw("t.event_id"))} and t.step_action is not null
      and t.step_id <> ${fallbackStepId}`;
}

/** The choices that traces offered, each with whether it was made. */
function offeredIn(scope: Whole["scope"]): RawBuilder<unknown> {
  return sql`
    select t.event_id, t.step_action, c.is_exit, ${sql.raw(choiceIsMade)} as is_made, o.label, o.is_chosen
    from visits v join traces t on t.workspace_id = ${scope.workspaceId} and t.event_id = v.id
    ${sql.raw(offeredChoices)}
    where ${idsInScope(scope, sql.raw("t.event_id"))}`;
}

interface FunnelRow {
  readonly visits: number;
  readonly completed: number;
  readonly steps: readonly Omit<StepCounts, "alsoReached" | "choices">[];
  readonly pairs: readonly { readonly action: string; readonly other: string; readonly visits: number }[];
  readonly choices: readonly (Group & { readonly action: string })[];
}

export async function funnel(db: Db, { scope }: Whole): Promise<FunnelCounts> {
  const { rows } = await sql<FunnelRow>`
    with visits as materialized (${countedVisits(scope)}),
    placed as (
      select t.event_id, t.step_action, t.completed_at,
        row_number() over (partition by t.event_id order by t.created_at, t.id) as place ${tracesIn(scope)}),
    reached as materialized (
      select event_id, step_action, count(*) as occurrences, count(completed_at) > 0 as is_done, min(place) as place
      from placed group by event_id, step_action),
    offered as materialized (${offeredIn(scope)}),
    identified as (
      select e.id from visits e join visitors v on v.workspace_id = ${scope.workspaceId} and v.id = e.visitor_id
      where v.email is not null or v.phone is not null),
    steps as (
      select step_action as action, count(*) as visits, sum(occurrences) as occurrences, sum(place) as places,
        count(*) filter (where is_done) as interactions, count(i.id) as identified
      from reached r left join identified i on i.id = r.event_id group by step_action),
    -- An exit that offers choices is done when one is made; it is complete once it is shown.
    exits as (
      select step_action as action, count(distinct event_id) filter (where is_made) as interactions
      from offered where is_exit group by step_action),
    ways as (
      select actions, count(*) as visits
      from (select array_agg(step_action order by step_action) as actions from reached group by event_id) as way
      group by actions),
    pairs as (
      select action, other, sum(visits) as visits
      from ways, unnest(actions) as action, unnest(actions) as other group by action, other),
    chosen as (
      select step_action as action, label as value, count(distinct event_id) filter (where is_chosen) as count
      from offered group by step_action, label),
    ranked as (
      select *, row_number() over (partition by action order by count desc, value) as rank from chosen)
    select (select count(*) from visits)::int as visits,
      (select count(*) from visits where outcome = 'COMPLETED')::int as completed,
      (select coalesce(jsonb_agg(to_jsonb(s) || coalesce(to_jsonb(e), '{}')), '[]')
        from steps s left join exits e using (action)) as steps,
      (select coalesce(jsonb_agg(p), '[]') from pairs p) as pairs,
      (select coalesce(jsonb_agg(c order by rank), '[]') from ranked c where rank <= ${choicesMax}) as choices`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a statement without a table to read from gave no row");
  const { visits, completed, steps, pairs, choices } = row;
  return {
    visits,
    completed,
    steps: steps.map(({ action, visits, occurrences, interactions, identified, places }) => {
      const others = pairs.filter((pair) => pair.action === action);
      const ofAction = choices.filter((choice) => choice.action === action);
      return {
        action,
        visits,
        occurrences,
        interactions,
        identified,
        places,
        alsoReached: Object.fromEntries(others.map(({ other, visits }) => [other, visits])),
        choices: ofAction.map(({ value, count }) => ({ value, count })),
      };
    }),
  };
}
