import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { SimulateWorkflowRequest } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { loadPlanOfLink } from "../../db/load-plan.ts";
import { entrypointOf } from "../../model/links/entrypoint.ts";
import { compilePlan } from "../../model/workflow/plan.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { simulate } from "../../workflow/simulate.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { simulatedAnswers, simulatedDeps } from "./simulated-answers.ts";
import { simulatedVisit } from "./simulated-visit.ts";
import { toSimulation } from "./simulation-message.ts";

/** Runs the workflow of a link for an invented visit. Nothing is written. */
export async function simulateWorkflow(
  { shortUrl }: Pick<Deps, "shortUrl">,
  { linkId, visit, answers }: SimulateWorkflowRequest,
  context: Context,
) {
  const row = await loadPlanOfLink(context.db, callerOf(context).workspaceId, linkId);
  if (row === undefined) throw notFound("link", "linkId", linkId);
  const given = simulatedAnswers(row.steps, answers);
  const plan = compilePlan(row, entrypointOf(row, shortUrl));
  const at = visit?.at === undefined ? context.ruleTime() : timestampDate(visit.at);
  return toSimulation(simulate(plan, simulatedVisit(plan, visit), at, given, simulatedDeps));
}
