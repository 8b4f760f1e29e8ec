import { uuidFromTime } from "../../lib/ids.ts";
import { fallbackStepId } from "../../model/workflow/workflow.ts";
import { choiceIsMade, choosingActions, offeredChoices } from "../reference/offered-choices.ts";
import { type CopiedRow, copyOut, idAt, millisecondsAt, smallAt, textAt } from "./copy-out.ts";
import { type GrowingTexts, growingTexts } from "./growing-columns.ts";
import type { Client, ReadEvents, Span } from "./read-visits.ts";
import { type ReachedStep, wayOf } from "./ways.ts";

/** Where the fields are that `tracesOf` selects. */
const field = { event: 0, id: 1, at: 2, action: 3, isDone: 4, isStep: 5, offered: 6 };

/** The traces that have rows, in the order of their events, with the choices that they offered. */
function tracesOf({ workspaceId, from, to }: Span): string {
  const choosing = choosingActions.map((action) => `'${action}'`).join();
  return `select t.event_id, t.id, t.created_at, t.step_action, t.completed_at is not null, t.step_id <> '${fallbackStepId}',
      case when t.step_action in (${choosing}) then (
        select json_build_array(bool_or(${choiceIsMade}), json_agg(json_build_array(o.label, o.is_chosen is true)))::text
        from (select) as once ${offeredChoices}) end
    from traces t
    where t.workspace_id = '${workspaceId}' and t.step_action is not null
      and t.event_id >= '${uuidFromTime(from)}' and t.event_id < '${uuidFromTime(to)}'
    order by t.event_id`;
}

/** Reads the ways of events. Most events tell theirs, and a visit without rows of traces costs nothing here. */
export async function readWays(client: Client, span: Span, events: ReadEvents): Promise<GrowingTexts> {
  const { rows, idOf } = events;
  const ways = growingTexts();
  const plain = [0, 1, 2, 3].map((told) => wayOf(toldSteps({ told, id: "", atMs: 0 })));
  let row = 0;
  let traced: ReachedStep[] = [];
  const end = () => {
    const told = events.told(row);
    const own = traced.length === 0 ? [] : toldSteps({ told, id: idOf(row), atMs: events.atMs(row) });
    ways.add(traced.length === 0 ? (plain[told] ?? "") : wayOf([...own, ...traced]));
    traced = [];
    row += 1;
  };
  await copyOut(client, tracesOf(span), (trace) => {
    const event = idAt(trace, field.event);
    while (row < rows && idOf(row) < event) end();
    // Events that do not count have traces, too.
    if (row < rows && idOf(row) === event) traced.push(stepAt(trace));
  });
  while (row < rows) end();
  return ways;
}

function stepAt(trace: CopiedRow): ReachedStep {
  const [isMade, choices] = JSON.parse(textAt(trace, field.offered) || "[]");
  return {
    action: textAt(trace, field.action),
    atMs: millisecondsAt(trace, field.at),
    id: idAt(trace, field.id),
    isDone: smallAt(trace, field.isDone) === 1,
    isStep: smallAt(trace, field.isStep) === 1,
    isMade: isMade === true,
    choices: choices ?? [],
  };
}

/** The steps that an event tells, with ids as the view `visit_traces` makes them. */
function toldSteps({
  told,
  id,
  atMs,
}: {
  readonly told: number;
  readonly id: string;
  readonly atMs: number;
}) {
  const step = (action: string, end: string): ReachedStep => {
    const isStep = true;
    return { action, atMs, id: id.slice(0, 15) + end, isDone: true, isStep, isMade: false, choices: [] };
  };
  return [
    ...(told & 1 ? [step("LINK_VISIT", "\u0001")] : []),
    ...(told & 2 ? [step("CLIENT_REDIRECT", "\u00ff")] : []),
  ];
}
