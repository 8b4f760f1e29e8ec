import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { LinkSchema } from "../../../gen/signpost/v1/link_pb.js";
import { WorkflowStepPayloadSchema } from "../../../gen/signpost/v1/workflow_step_payload_pb.js";
import {
  EventAction,
  WorkflowStep_Kind,
  WorkflowStep_NodeType,
  type WorkflowStepSchema,
} from "../../../gen/signpost/v1/workflow_step_pb.js";
import { stepActions } from "../../model/steps/kinds.ts";
import { branchesOf, nextBranchId } from "../../model/workflow/workflow.ts";
import { toCustomDomain } from "../resources/domains/custom-domain.ts";
import type { SignFile } from "../resources/file-address.ts";
import { toLinkAlone } from "../resources/link.ts";
import { toPageTheme } from "../resources/page-theme.ts";
import { toQrcodeDesign } from "../resources/qrcode-design.ts";
import { toTag } from "../resources/tag.ts";
import type { NewLink } from "./create-writes.ts";
import type { LinkWithParts } from "./queries.ts";

/** What a link's message needs beside the row. */
export interface LinkMessageOptions {
  readonly shortUrl: string;
  /** Whether the address of the QR image is shown. */
  readonly showsImage: boolean;
  readonly signFile: SignFile;
}

/** The message of a link, with the objects that the row holds. */
export function toLink(
  row: LinkWithParts,
  { shortUrl, showsImage, signFile }: LinkMessageOptions,
): MessageInitShape<typeof LinkSchema> {
  return {
    ...toLinkAlone(row, shortUrl),
    ...defined("qrcodeSignedUrl", showsImage ? row.qrcode_image_key : undefined, signFile),
    tags: row.tags?.map(toTag) ?? [],
    ...defined("customDomain", row.domain, toCustomDomain),
    ...defined("qrcodeDesign", row.design, (design) => toQrcodeDesign(design, signFile)),
    ...defined("pageTheme", row.theme, toPageTheme),
  };
}

/** The two steps that a new link has, entry step first. */
export function toFirstSteps(link: NewLink): MessageInitShape<typeof WorkflowStepSchema>[] {
  const both = {
    linkId: link.id,
    nodeType: WorkflowStep_NodeType[stepActions.LINK_VISIT.nodeType],
    createdAt: timestampFromDate(link.at),
    updatedAt: timestampFromDate(link.at),
  };
  const branches = branchesOf({ action: "LINK_VISIT", payload: {} }).map(({ id, label }) => ({
    branchId: id,
    label,
    nextStepId: id === nextBranchId ? link.exit.stepId : "",
  }));
  return [
    {
      ...both,
      id: link.entryStepId,
      eventAction: EventAction.LINK_VISIT,
      kind: WorkflowStep_Kind[stepActions.LINK_VISIT.kind],
      payload: { variant: { case: "linkVisit", value: {} } },
      branches,
      childStepIds: [link.exit.stepId],
      canvasPosition: entryPosition,
    },
    {
      ...both,
      id: link.exit.stepId,
      eventAction: EventAction[link.exit.action],
      kind: WorkflowStep_Kind[stepActions[link.exit.action].kind],
      payload: fromJson(WorkflowStepPayloadSchema, {
        [stepActions[link.exit.action].payload]: link.exit.payload,
      }),
      parentStepIds: [link.entryStepId],
      canvasPosition: exitPosition,
    },
  ];
}

/** Where the first two steps lie on an editor's canvas. */
export const entryPosition = { x: 0, y: 0 };
export const exitPosition = { x: 320, y: 0 };

/** The field when it has a value, else nothing: unset fields may not be present with `undefined`. */
function defined<Name extends string, Value, Field>(
  name: Name,
  value: Value | null | undefined,
  toField: (value: Value) => Field,
): { readonly [N in Name]?: Field } {
  // TypeScript widens a computed name to string.
  return value === null || value === undefined
    ? {}
    : ({ [name]: toField(value) } as { readonly [N in Name]: Field });
}
