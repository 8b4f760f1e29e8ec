import type { RawBuilder } from "kysely";
import { type CallError, fail } from "../../lib/errors.ts";
import type { DesignOptions } from "../../model/design-options.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { Deps } from "../deps.ts";
import type { DesignRow } from "./queries.ts";

/** How often a change starts over when another one comes in between. */
const triesMax = 5;

/**
 * Tries a change until it is made on the state that it was thought up for: verifying takes too long to hold a lock.
 * `attempt` answers undefined when the design had changed meanwhile.
 */
export async function untilMade<Answer>(attempt: () => Promise<Answer | undefined>): Promise<Answer> {
  for (let tries = 0; tries < triesMax; tries++) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
  }
  throw fail("ABORTED", "ABORTED", "the design is being changed by others; try again");
}

/** Queues the drawing of the link or template that shows a design. */
export function drawingOf({ jobCall }: Deps, row: DesignRow): RawBuilder<unknown> | undefined {
  const { workspace_id: workspaceId, link_id: linkId, template_id: templateId } = row;
  if (linkId !== null) return jobCall("render-qrcode", { workspaceId, linkId });
  if (templateId !== null) return jobCall("render-thumbnail", { workspaceId, templateId });
  return undefined;
}

/** Throws when a design belongs to a built-in template: everyone may see it, and nobody may change it. */
export function checkChangeable({ workspace_id, template_id, id }: DesignRow): void {
  if (workspace_id === noWorkspace && template_id !== null)
    throw fail(
      "PERMISSION_DENIED",
      "BUILT_IN_TEMPLATE",
      `QR code design ${id} belongs to a built-in template`,
    );
}

export function optionsOf({ options }: Pick<DesignRow, "options">): DesignOptions {
  // The column is only ever written with objects.
  return options as DesignOptions;
}

export function noSuchDesign(id: string): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", `there is no QR code design ${id} in this workspace`);
}
