import pg from "pg";
import { factsByAction } from "../../model/steps/kinds.ts";

/** Where the traces of an action say what visitors could choose, as paths into their data. */
interface TracedChoices {
  readonly action: string;
  /** Undefined where all steps of the action have the same choices, which are `outcomes`. */
  readonly list: readonly string[] | undefined;
  readonly label: string;
  readonly outcomes: readonly string[];
  readonly chosen: readonly string[];
  /** Whether nothing but a choice completes such a step in the eyes of a funnel. */
  readonly is_exit: boolean;
}

const tracedChoices: readonly TracedChoices[] = Object.entries(factsByAction).flatMap(
  ([action, facts]): TracedChoices[] => {
    const { trace, traced, kind } = facts;
    if (traced === undefined) return [];
    const own = { action, is_exit: kind === "EXIT" };
    if ("outcomes" in traced)
      return [
        { ...own, list: undefined, label: "", outcomes: traced.outcomes, chosen: [trace, traced.chosen] },
      ];
    const { list, label, chosen } = traced;
    return [{ ...own, list: [trace, list], label, outcomes: [], chosen: [trace, chosen, "id"] }];
  },
);

/** The actions whose traces offer choices. */
export const choosingActions: readonly string[] = tracedChoices.map(({ action }) => action);

/**
 * The choices that each trace `t` offered, as text of a join: `c` says how its action offers them, and `o` has each
 * choice with its label and whether it is the chosen one.
 */
export const offeredChoices = `join (
    select * from jsonb_to_recordset(${pg.escapeLiteral(JSON.stringify(tracedChoices))}::jsonb)
      as choices (action text, list text[], label text, outcomes text[], chosen text[], is_exit boolean)) as c
    on c.action = t.step_action::text
  cross join lateral (
    select coalesce(choice ->> c.label, '') collate "C" as label, choice ->> 'id' = t.data #>> c.chosen as is_chosen
    from jsonb_array_elements(t.data #> c.list) as choice
    union all
    select initcap(outcome) collate "C", outcome = t.data #>> c.chosen from unnest(c.outcomes) as outcome) as o`;

/** Whether a choice was made at the step of a trace. */
export const choiceIsMade = "t.data #>> c.chosen is not null";
