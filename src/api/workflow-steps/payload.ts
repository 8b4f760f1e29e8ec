import { fromJson, getOption, type JsonObject, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "../../../gen/google/api/field_behavior_pb.js";
import {
  type WorkflowStepPayload,
  WorkflowStepPayloadSchema,
} from "../../../gen/signpost/v1/workflow_step_payload_pb.js";
import { type FieldViolation, invalid, refuse } from "../../lib/errors.ts";
import { textOf } from "../../model/json-fields.ts";
import { platformFaults, withPlatforms } from "../../model/links/platform.ts";
import { type ScreenedUrl, urlsAt } from "../../model/links/screened-url.ts";
import { actionsByPayload, factsByAction, type StepAction, stepActions } from "../../model/steps/kinds.ts";
import type { BranchFields } from "../../model/steps/step.ts";
import { elseBranchId } from "../../model/workflow/workflow.ts";

/** A branch that a payload connects, and the field that names its next step. */
export interface WantedConnection {
  readonly field: string;
  readonly branchId: string;
  readonly nextStepId: string;
}

/** A payload of a request, ready to be stored. */
export interface GivenPayload {
  /** The payload as it is stored, except that a password is still in clear. It does not hold where branches lead. */
  readonly payload: JsonObject;
  readonly connections: readonly WantedConnection[];
}

/** An element of a list in a payload. The optional fields exist only in some kinds of elements. */
type Item = JsonObject & { readonly id?: string; readonly nextStepId?: string };

/**
 * Reads the payload of a step: of the action's variant, with ids and platforms filled in. Without a payload, it gives
 * the defaults of the action. Throws INVALID_ARGUMENT for another variant, for fields without a default and for unknown
 * platforms.
 */
export function fromPayload(
  action: StepAction,
  given: WorkflowStepPayload | undefined,
  newId: () => string,
): GivenPayload {
  const name = stepActions[action].payload;
  const field = `payload.${name}`;
  const { elseNextStepId, ...fields } = fieldsOf(action, given);
  const payload: Record<string, JsonObject[string]> = fields;

  if (payload.displayStyle === "SOCIAL_LINKS_DISPLAY_STYLE_UNSPECIFIED")
    payload.displayStyle = "SOCIAL_LINKS_DISPLAY_STYLE_DETAILED";
  const { platforms, list } = factsByAction[action];
  if (platforms !== undefined) {
    // The schema says that these are lists of links.
    const links = payload[platforms.list] as { platform: string; url: string }[];
    refuse(platformFaults(links, platforms.among, `${field}.${platforms.list}`));
    payload[platforms.list] = withPlatforms(links, platforms.among);
  }

  const connections: WantedConnection[] = [];
  const want = (at: string, branchId: string, nextStepId: unknown) => {
    if (typeof nextStepId === "string" && nextStepId !== "")
      connections.push({ field: at, branchId, nextStepId: nextStepId.toLowerCase() });
  };
  if (list !== undefined) {
    const { name: listName, branch } = list;
    // The schema says that this is a list of such elements.
    payload[listName] = (payload[listName] as Item[]).map(({ nextStepId, ...item }, index): JsonObject => {
      const named: Item = item.id === "" ? { ...item, id: newId() } : item;
      if (branch) want(`${field}.${listName}[${index}].nextStepId`, branchIdOf(branch, named), nextStepId);
      return named;
    });
  }
  want(`${field}.elseNextStepId`, elseBranchId, elseNextStepId);
  return { payload, connections };
}

/** The fields of the action's variant, or their defaults. */
function fieldsOf(action: StepAction, given: WorkflowStepPayload | undefined): JsonObject {
  const name = stepActions[action].payload;
  const other = given?.variant.case;
  if (other !== undefined && other !== name)
    throw invalid([
      { field: `payload.${other}`, description: `is not for EVENT_ACTION_${action}: give ${name}` },
    ]);
  if (other === undefined) refuseMissing(action);
  const payload = (other && given) ?? fromJson(WorkflowStepPayloadSchema, { [name]: {} });
  // Defaults are written out, so that a new default changes no old step.
  const json = toJson(WorkflowStepPayloadSchema, payload, { alwaysEmitImplicit: true });
  // Only this variant is set.
  return (json as Record<string, JsonObject>)[name] ?? {};
}

/** Throws INVALID_ARGUMENT for the fields that a payload must have. */
function refuseMissing(action: StepAction): void {
  const name = stepActions[action].payload;
  const fields = WorkflowStepPayloadSchema.field[name].message?.fields ?? [];
  const missing: FieldViolation[] = fields
    .filter((field) => getOption(field, field_behavior).includes(FieldBehavior.REQUIRED))
    .map(({ jsonName }) => ({
      field: `payload.${name}.${jsonName}`,
      description: "is required: give it a value",
    }));
  if (missing.length > 0) throw invalid(missing);
}

/** The addresses that a payload of any variant sends visitors to. */
export function urlsOf(given: WorkflowStepPayload | undefined): ScreenedUrl[] {
  const name = given?.variant.case;
  if (name === undefined) return [];
  return urlsAt(stepActions[actionsByPayload[name]].urls, given?.variant.value ?? {}, `payload.${name}.`);
}

/** A stored payload as a message, including where its branches lead. */
export function toPayload(
  action: StepAction,
  stored: JsonObject,
  next: ReadonlyMap<string, string> | undefined,
): MessageInitShape<typeof WorkflowStepPayloadSchema> {
  const payload: Record<string, JsonObject[string]> = { ...stored };
  const { kind, list } = factsByAction[action];
  if (list?.branch !== undefined) {
    const { name, branch } = list;
    // The stored list was written with such elements.
    payload[name] = (payload[name] as Item[]).map((item) => ({
      ...item,
      nextStepId: next?.get(branchIdOf(branch, item)) ?? "",
    }));
  }
  if (kind === "CONDITION") payload.elseNextStepId = next?.get(elseBranchId) ?? "";
  return fromJson(
    WorkflowStepPayloadSchema,
    { [stepActions[action].payload]: payload },
    { ignoreUnknownFields: true },
  );
}

function branchIdOf({ id }: BranchFields, item: Item): string {
  return textOf(item[id]);
}
