import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import type { Link } from "../../../gen/signpost/v1/link_pb.js";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { applyChanges } from "../steps/change-workflow.ts";
import { findLink, linkFinding, summariesOf } from "../steps/find-link.ts";
import { defineTask } from "../steps/task.ts";
import { triedLines, tryVisits } from "../steps/try-visits.ts";
import { readWorkflow, workflowLines, workflowOf, workflowReading } from "../steps/workflow-view.ts";

const { create, update, connectStep, disconnectStep, simulate } = WorkflowStepsService.method;

/** Reads, changes, checks and tries a workflow. */
export const editWorkflow = defineTask(
  TasksService.method.editWorkflow,
  [...linkFinding, ...workflowReading, create, update, connectStep, disconnectStep, simulate],
  function* ({ link: named, changes, tryVisits: visits, dryRun }) {
    const link: Link = yield* findLink(named);
    const before = yield* readWorkflow(link.id);
    const made = yield* applyChanges(link, before.steps, changes, dryRun);
    const after = changes.length === 0 || dryRun ? before : yield* readWorkflow(link.id);
    const tried = yield* tryVisits(link.id, after.steps, visits);
    const [summary] = yield* summariesOf([link]);
    return {
      result: {
        ...(summary && { link: summary }),
        workflow: workflowOf(after),
        changes: made,
        dryRun,
        triedVisits: tried,
      },
      text: [
        ...(dryRun ? ["Nothing was changed. This would be done:"] : []),
        ...made.map((line, index) => `${index + 1}) ${line}`),
        `Workflow of "${link.name}" ${link.entrypoint}${dryRun ? " as it is" : ""}:`,
        ...triedLines(tried),
        ...workflowLines(after),
      ],
    };
  },
);
