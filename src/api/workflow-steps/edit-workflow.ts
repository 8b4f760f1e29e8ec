import { isDeepStrictEqual } from "node:util";
import { inTransaction } from "../../db/open.ts";
import { fail, refuse } from "../../lib/errors.ts";
import { linkOrigin } from "../../model/links/entrypoint.ts";
import {
  blockedFaults,
  destinationFaults,
  hostsToScreen,
  type ScreenedUrl,
} from "../../model/links/screened-url.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import {
  findWorkflow,
  type LinkWorkflow,
  lockWorkflow,
  type Step,
  saveWorkflow,
  type WorkflowChange,
} from "./queries.ts";

/** What this slice needs of `Deps`. */
export type WorkflowStepsDeps = Pick<Deps, "now" | "shortUrl" | "stepPasswordKey">;

/** The workflow that an edit changes. */
export interface EditPlace {
  readonly linkId: string;
  /** The addresses that the edit brings in. */
  readonly urls?: readonly ScreenedUrl[];
}

/** A workflow before and after an edit. */
export interface Edited {
  readonly linkId: string;
  readonly before: LinkWorkflow;
  readonly after: LinkWorkflow;
}

/**
 * Runs one edit in one transaction, which has its link to itself. Writes the workflow that the edit returns and tells
 * scans, or does nothing when it equals the one before. Throws NOT_FOUND, and INVALID_ARGUMENT for refused addresses.
 */
export async function editWorkflow(
  { now, shortUrl }: WorkflowStepsDeps,
  context: Context,
  { linkId, urls = [] }: EditPlace,
  edit: (workflow: LinkWorkflow, at: Date) => LinkWorkflow,
): Promise<Edited> {
  const { workspaceId } = callerOf(context);
  return inTransaction(context.db, async (tx) => {
    const link = await lockWorkflow(tx, workspaceId, linkId, hostsToScreen(urls));
    const before = link && (await findWorkflow(tx, workspaceId, link.id));
    if (link === undefined || before === undefined) throw notFound("link", "linkId", linkId);
    refuse(blockedFaults(urls, new Set(link.blocked_hosts)));
    if (link.host !== "") refuse(destinationFaults(urls, [linkOrigin(link.host, shortUrl)]));
    const at = now();
    const { after, change } = compare(before, edit(before, at), at);
    if (change !== undefined) checkSize(before, after);
    if (change !== undefined) await saveWorkflow(tx, workspaceId, link, change, at);
    return { linkId: link.id, before, after };
  });
}

/**
 * How many bytes all payloads of a workflow have at most, because each visit and each read of the workflow loads all of
 * them.
 */
const workflowBytesMax = 1024 * 1024;

/** Throws LIMIT_REACHED when a workflow has become too large. A workflow that shrinks is accepted. */
function checkSize(before: LinkWorkflow, after: LinkWorkflow): void {
  const bytes = bytesOf(after);
  if (bytes > workflowBytesMax && bytes > bytesOf(before))
    throw fail(
      "RESOURCE_EXHAUSTED",
      "LIMIT_REACHED",
      `the steps of the link would have ${bytes} bytes, more than ${workflowBytesMax}: shorten their texts or delete some`,
    );
}

function bytesOf({ steps }: LinkWorkflow): number {
  return steps.reduce(
    (sum, { payload, capture }) => sum + Buffer.byteLength(JSON.stringify([payload, capture])),
    0,
  );
}

/**
 * Finds what an edit changed. The steps that it changed, and those whose branches now lead elsewhere, get the edit's
 * time.
 */
function compare(
  before: LinkWorkflow,
  edited: LinkWorkflow,
  at: Date,
): { readonly after: LinkWorkflow; readonly change: WorkflowChange | undefined } {
  const stepsBefore = new Map(before.steps.map((step) => [step.id, step]));
  const stepIdsAfter = new Set(edited.steps.map(({ id }) => id));
  const keysAfter = new Map(edited.connections.map((each) => [keyOf(each), each.nextStepId]));
  const keysBefore = new Map(before.connections.map((each) => [keyOf(each), each.nextStepId]));
  const connections = edited.connections.filter((each) => keysBefore.get(keyOf(each)) !== each.nextStepId);
  const goneConnections = before.connections.filter((each) => !keysAfter.has(keyOf(each)));
  const goneStepIds = before.steps.map(({ id }) => id).filter((id) => !stepIdsAfter.has(id));
  const reconnected = new Set([...connections, ...goneConnections].map(({ stepId }) => stepId));
  const isChanged = (step: Step) =>
    reconnected.has(step.id) || !isDeepStrictEqual(step, stepsBefore.get(step.id));
  const steps = edited.steps.filter(isChanged).map((step) => ({ ...step, updatedAt: at }));
  if (steps.length === 0 && goneStepIds.length === 0) return { after: before, change: undefined };
  const changed = new Map(steps.map((step) => [step.id, step]));
  const after = { ...edited, steps: edited.steps.map((step) => changed.get(step.id) ?? step) };
  return { after, change: { steps, connections, goneStepIds, goneConnections } };
}

function keyOf({ stepId, branchId }: { readonly stepId: string; readonly branchId: string }): string {
  return `${stepId} ${branchId}`;
}
