import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  LinkSummarySchema,
  RedirectedLinkSchema,
  RedirectLinksRequest,
} from "../../../gen/signpost/tasks/v1/link_tasks_pb.js";
import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import type { Link } from "../../../gen/signpost/v1/link_pb.js";
import type { WorkflowStep } from "../../../gen/signpost/v1/workflow_step_pb.js";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { findLinks, linkFinding, summariesOf } from "../steps/find-link.ts";
import { defineTask, read, type Steps, write } from "../steps/task.ts";
import { counted } from "../steps/words.ts";

/** Lets links lead somewhere else. */
export const redirectLinks = defineTask(
  TasksService.method.redirectLinks,
  [...linkFinding, WorkflowStepsService.method.list, WorkflowStepsService.method.update],
  function* (request) {
    const links = yield* findLinks(request);
    const summaries = yield* summariesOf(links);
    const results: MessageInitShape<typeof RedirectedLinkSchema>[] = [];
    for (const [index, link] of links.entries())
      results.push(yield* redirectLink(link, summaries[index] ?? {}, request));
    const changed = results.filter((result) => (result.changed ?? 0) > 0).length;
    const verb = request.dryRun ? "would lead" : "lead";
    return {
      result: { links: results, dryRun: request.dryRun },
      text: [
        `${changed} of ${counted(links.length, "link")} ${verb} to ${request.destination} now.`,
        ...results.map(lineOf),
      ],
    };
  },
);

/** A redirect and where it leads. */
interface Redirect {
  readonly step: WorkflowStep;
  readonly destination: string;
  readonly conversionTracking: boolean;
}

function* redirectLink(
  link: Link,
  summary: MessageInitShape<typeof LinkSummarySchema>,
  { destination, onlyFrom, dryRun }: RedirectLinksRequest,
): Steps<MessageInitShape<typeof RedirectedLinkSchema>> {
  const { workflowSteps } = yield* read("read the workflow", WorkflowStepsService.method.list, {
    linkId: link.id,
  });
  const redirects = workflowSteps.flatMap(redirectOf);
  const asked = redirects.filter((redirect) => onlyFrom === "" || redirect.destination === onlyFrom);
  const ledTo = [...new Set(redirects.map((redirect) => redirect.destination))];
  const kept = (reason: string) => ({ link: summary, ledTo, changed: 0, reason });
  if (asked.length === 0) return kept(onlyFrom === "" ? "it has no redirect" : "no redirect leads there");
  if (onlyFrom === "" && asked.length > 1)
    return kept(`it has ${asked.length} redirects: say in onlyFrom which is meant`);
  const others = asked.filter((redirect) => redirect.destination !== destination);
  if (others.length === 0) return kept("it leads there already");
  if (!dryRun) for (const redirect of others) yield* lead(link, redirect, destination);
  return { link: summary, ledTo, changed: others.length, reason: "" };
}

function* lead(link: Link, { step, conversionTracking }: Redirect, destination: string): Steps<void> {
  yield* write(
    `change the redirect ${step.id} of "${link.name}"`,
    WorkflowStepsService.method.update,
    { linkId: link.id, id: step.id, payload: { clientRedirect: { destination, conversionTracking } } },
    () => `${link.entrypoint} leads to ${destination}`,
  );
}

function redirectOf(step: WorkflowStep): Redirect[] {
  const variant = step.payload?.variant;
  if (variant?.case !== "clientRedirect") return [];
  const { destination, conversionTracking } = variant.value;
  return [{ step, destination, conversionTracking }];
}

function lineOf({ link, ledTo, reason }: MessageInitShape<typeof RedirectedLinkSchema>): string {
  const before = `led to ${ledTo?.join(", ") || "nothing"}`;
  return `- ${link?.entrypoint} ${before}${reason === "" ? "" : `; unchanged: ${reason}`}`;
}
