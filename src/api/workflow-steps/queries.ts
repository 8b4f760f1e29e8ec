import type { JsonObject } from "@bufbuild/protobuf";
import { type Selectable, sql } from "kysely";
import type { WorkflowConnections, WorkflowSteps } from "../../../gen/database.ts";
import { tellLinkChange } from "../../db/channels.ts";
import type { Db } from "../../db/open.ts";
import type { StoredStep } from "../../model/workflow/workflow.ts";
import type { Workflow } from "../../model/workflow/workflow-graph.ts";
import type { Position } from "../../model/workflow/workflow-layout.ts";

/** A step with everything that is stored of it. */
export interface Step extends StoredStep {
  readonly payload: JsonObject;
  /** The JSON of the AttributeCapture message. Null when the step captures nothing. */
  readonly capture: JsonObject | null;
  readonly position: Position;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type LinkWorkflow = Workflow<Step>;

/** The link that a workflow belongs to. */
export interface WorkflowLink {
  readonly id: string;
  /** The name of the custom domain, or empty for the default short domain. */
  readonly host: string;
  readonly shortlink: string;
  readonly blocked_hosts: readonly string[];
}

/**
 * Locks a link against other edits, in a statement of its own, so that the next statement reads what was committed
 * before the lock was granted. Also looks for the given hosts on the block list.
 */
export async function lockWorkflow(
  tx: Db,
  workspaceId: string,
  id: string,
  screenedHosts: readonly string[],
): Promise<WorkflowLink | undefined> {
  const { rows } = await sql<WorkflowLink>`
    select l.id, coalesce(d.name, '') as host, l.shortlink,
      array(select host from blocked_hosts where host = any(${screenedHosts})) as blocked_hosts
    from living_links l
    left join custom_domains d on d.workspace_id = l.workspace_id and d.id = l.custom_domain_id
    where l.workspace_id = ${workspaceId} and l.id = ${id}
    for no key update of l`.execute(tx);
  return rows[0];
}

type StepRow = Pick<Selectable<WorkflowSteps>, "id" | "event_action" | "canvas_x" | "canvas_y"> & {
  // Rows inside JSON hold times as text. Both columns are only ever written with objects.
  readonly payload: JsonObject;
  readonly attribute_capture: JsonObject | null;
  readonly created_at: string;
  readonly updated_at: string;
};
type ConnectionRow = Pick<Selectable<WorkflowConnections>, "step_id" | "branch_id" | "next_step_id">;

/** All of a link's workflow at one moment, with at most 100 steps. Undefined when there is no such link. */
export async function findWorkflow(
  db: Db,
  workspaceId: string,
  linkId: string,
): Promise<(LinkWorkflow & { readonly linkId: string }) | undefined> {
  const { rows } = await sql<{ id: string; steps: StepRow[]; connections: ConnectionRow[] }>`
    select l.id,
      (select coalesce(jsonb_agg(to_jsonb(s) order by s.created_at, s.id), '[]') from workflow_steps s
        where s.workspace_id = l.workspace_id and s.link_id = l.id) as steps,
      (select coalesce(jsonb_agg(to_jsonb(c)), '[]') from workflow_connections c
        where c.workspace_id = l.workspace_id and c.link_id = l.id) as connections
    from living_links l where l.workspace_id = ${workspaceId} and l.id = ${linkId}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    linkId: row.id,
    steps: row.steps.map((step) => ({
      id: step.id,
      action: step.event_action,
      payload: step.payload,
      capture: step.attribute_capture,
      position: { x: step.canvas_x, y: step.canvas_y },
      createdAt: new Date(step.created_at),
      updatedAt: new Date(step.updated_at),
    })),
    connections: row.connections.map((each) => ({
      stepId: each.step_id,
      branchId: each.branch_id,
      nextStepId: each.next_step_id,
    })),
  };
}

/** What an edit writes and deletes. */
export interface WorkflowChange {
  readonly steps: readonly Step[];
  readonly connections: LinkWorkflow["connections"];
  readonly goneStepIds: readonly string[];
  readonly goneConnections: LinkWorkflow["connections"];
}

/** Writes an edit of a locked link's workflow and tells the scan runtime, in one statement. */
export async function saveWorkflow(
  tx: Db,
  workspaceId: string,
  link: WorkflowLink,
  { steps, connections, goneStepIds, goneConnections }: WorkflowChange,
  at: Date,
): Promise<void> {
  const own = sql`${workspaceId}::uuid, ${link.id}::uuid`;
  await sql`
    with link as (
        update links set updated_at = ${at} where workspace_id = ${workspaceId} and id = ${link.id}),
      gone_step as (
        delete from workflow_steps where workspace_id = ${workspaceId} and link_id = ${link.id}
          and id = any(${goneStepIds}::uuid[])),
      gone_connection as (
        delete from workflow_connections where workspace_id = ${workspaceId} and link_id = ${link.id}
          and (step_id, branch_id) in (select * from unnest(${goneConnections.map(({ stepId }) => stepId)}::uuid[],
            ${goneConnections.map(({ branchId }) => branchId)}::text[]))),
      step as (
        insert into workflow_steps (workspace_id, link_id, id, event_action, payload, attribute_capture, canvas_x,
          canvas_y, created_at, updated_at)
        select ${own}, * from jsonb_to_recordset(${JSON.stringify(steps.map(rowOf))}::jsonb) as given (id uuid,
          event_action event_action, payload jsonb, attribute_capture jsonb, canvas_x double precision,
          canvas_y double precision, created_at timestamptz, updated_at timestamptz)
        on conflict on constraint workflow_steps_pkey do update set payload = excluded.payload,
          attribute_capture = excluded.attribute_capture, canvas_x = excluded.canvas_x,
          canvas_y = excluded.canvas_y, updated_at = excluded.updated_at),
      connection as (
        insert into workflow_connections (workspace_id, link_id, step_id, branch_id, next_step_id)
        select ${own}, * from unnest(${connections.map(({ stepId }) => stepId)}::uuid[],
          ${connections.map(({ branchId }) => branchId)}::text[],
          ${connections.map(({ nextStepId }) => nextStepId)}::uuid[])
        on conflict on constraint workflow_connections_pkey do update set next_step_id = excluded.next_step_id)
    select ${tellLinkChange(link.host, link.shortlink)}`.execute(tx);
}

function rowOf(step: Step) {
  return {
    id: step.id,
    event_action: step.action,
    payload: step.payload,
    attribute_capture: step.capture,
    canvas_x: step.position.x,
    canvas_y: step.position.y,
    created_at: step.createdAt,
    updated_at: step.updatedAt,
  };
}
