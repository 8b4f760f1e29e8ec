import type { Db } from "../../src/db/open.ts";
import { newId } from "../../src/lib/ids.ts";
import type { StepAction } from "../../src/model/steps/kinds.ts";
import { insertLink, type LinkOptions, type TestLink } from "./start-scan.ts";

/** A step as a row, with the names of the steps that its branches lead to. */
export interface StepSeed {
  readonly action: StepAction;
  readonly payload?: object;
  readonly capture?: object;
  readonly next?: Readonly<Record<string, string>>;
}

export interface TestWorkflow<Name extends string> extends TestLink {
  /** Step ids by name. */
  readonly steps: Readonly<Record<Name, string>>;
}

/** Inserts rows of a link with this workflow, like those that the API would make. */
export async function insertWorkflow<Name extends string>(
  db: Db,
  seeds: Readonly<Record<Name, StepSeed>>,
  options: LinkOptions = {},
): Promise<TestWorkflow<Name>> {
  const link = await insertLink(db, options);
  const at = new Date();
  const named = Object.entries<StepSeed>(seeds);
  // One id for every name.
  const steps = Object.fromEntries(named.map(([name]) => [name, newId(at)])) as Record<Name, string>;
  const owner = { workspace_id: link.workspaceId, link_id: link.id };
  const ids: Readonly<Record<string, string>> = steps;
  for (const table of ["workflow_connections", "workflow_steps"] as const)
    await db
      .deleteFrom(table)
      .where("workspace_id", "=", owner.workspace_id)
      .where("link_id", "=", link.id)
      .execute();
  await db
    .insertInto("workflow_steps")
    .values(
      named.map(([name, { action, payload = {}, capture }]) => ({
        ...owner,
        id: ids[name] ?? "",
        event_action: action,
        payload: JSON.stringify(payload),
        attribute_capture: capture === undefined ? null : JSON.stringify(capture),
        canvas_x: 0,
        canvas_y: 0,
        created_at: at,
        updated_at: at,
      })),
    )
    .execute();
  const connections = named.flatMap(([name, { next = {} }]) =>
    Object.entries(next).map(([branch, nextName]) => ({
      ...owner,
      step_id: ids[name] ?? "",
      branch_id: branch,
      next_step_id: ids[nextName] ?? "",
    })),
  );
  if (connections.length > 0) await db.insertInto("workflow_connections").values(connections).execute();
  const [entry] = named.find(([, { action }]) => action === "LINK_VISIT") ?? [];
  const [exit] = named.find(([, { action }]) => action === "CLIENT_REDIRECT") ?? [];
  return {
    ...link,
    entryStepId: ids[entry ?? ""] ?? "",
    redirectStepId: ids[exit ?? ""] ?? "",
    steps,
  };
}
