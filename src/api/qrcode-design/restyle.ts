import type { RawBuilder } from "kysely";
import { type CallError, fail } from "../../lib/errors.ts";
import type { DesignOptions } from "../../model/look/design-options.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { Deps } from "../deps.ts";
import type { DesignRow } from "./queries.ts";

/** Queues the drawing of the link or template that shows a design. */
export function drawingOf({ jobCall }: Deps, row: DesignRow): RawBuilder<unknown> | undefined {
  const { workspace_id: workspaceId, link_id: linkId, template_id: templateId } = row;
  if (linkId !== null) return jobCall("render-qrcode", { workspaceId, linkId });
  if (templateId !== null) return jobCall("render-thumbnail", { workspaceId, templateId });
  return undefined;
}

/** Throws when a design belongs to a built-in template, which everyone may see and nobody may change. */
export function checkDesignChangeable({ workspace_id, template_id, id }: DesignRow): void {
  if (workspace_id === noWorkspace && template_id !== null)
    throw fail(
      "PERMISSION_DENIED",
      "BUILT_IN_TEMPLATE",
      `QR code design ${id} belongs to a built-in template: import the template and change the copy`,
    );
}

export function optionsOf({ options }: Pick<DesignRow, "options">): DesignOptions {
  // The column is only ever written with objects.
  return options as DesignOptions;
}

export function noSuchDesign(id: string): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", `there is no QR code design ${id} in this workspace`);
}
