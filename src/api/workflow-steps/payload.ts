import { fromJson, getOption, type JsonObject, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "../../../gen/google/api/field_behavior_pb.js";
import {
  type WorkflowStepPayload,
  WorkflowStepPayloadSchema,
} from "../../../gen/signpost/v1/workflow_step_payload_pb.js";
import { type FieldViolation, invalid, refuse } from "../../lib/errors.ts";
import {
  cardPlatforms,
  type Platform,
  platformFaults,
  socialPlatforms,
  withPlatforms,
} from "../../model/platform.ts";
import type { ScreenedUrl } from "../../model/screened-url.ts";
import { elseBranchId, type StepAction, stepActions } from "../../model/workflow.ts";

/** A branch that a payload connects, and the field that says so. */
export interface WantedConnection {
  readonly field: string;
  readonly branchId: string;
  readonly nextStepId: string;
}

/** A payload as it came, made ready to be stored. */
export interface GivenPayload {
  /** As it is stored, but for a password, which is in clear here. Where branches lead is not in it. */
  readonly payload: JsonObject;
  readonly connections: readonly WantedConnection[];
}

/** An element of a list in a payload; only what some kinds of elements have is optional. */
type Item = JsonObject & {
  readonly id?: string;
  readonly value?: string;
  readonly countryCode?: string;
  readonly nextStepId?: string;
};

/** The list in a payload whose elements have ids or branches. */
function listOf(action: StepAction): string | undefined {
  switch (action) {
    case "FORM_SUBMIT":
      return "formFields";
    case "MULTI_LINK":
      return "buttons";
    case "SOCIAL_LINKS_PAGE":
      return "links";
    case "COUNTRY_CONDITION":
      return "countries";
    case "TIME_OF_DAY_CONDITION":
      return "ranges";
    default:
      return stepActions[action].kind === "CONDITION" ? "options" : undefined;
  }
}

function branchIdOf(action: StepAction, { id, value, countryCode }: Item): string {
  const branchId =
    action === "VISIT_TYPE_CONDITION" ? value : action === "COUNTRY_CONDITION" ? countryCode : id;
  return branchId ?? "";
}

/** The platforms that the links of a page may stand for, and the list of the links. */
const platformLists: Partial<Record<StepAction, readonly [list: string, among: readonly Platform[]]>> = {
  SOCIAL_LINKS_PAGE: ["links", socialPlatforms],
  CONTACT_CARD: ["socialLinks", cardPlatforms],
};

/**
 * Reads the payload of a step: of the right variant, with ids and platforms filled in; without one, the defaults of the
 * action. Throws INVALID_ARGUMENT for another variant, for missing defaults and for unknown platforms.
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
  const [platformList, among] = platformLists[action] ?? [];
  if (platformList !== undefined && among !== undefined) {
    // The schema says that these are lists of links.
    const links = payload[platformList] as { platform: string; url: string }[];
    refuse(platformFaults(links, among, `${field}.${platformList}`));
    payload[platformList] = withPlatforms(links, among);
  }

  const connections: WantedConnection[] = [];
  const want = (at: string, branchId: string, nextStepId: unknown) => {
    if (typeof nextStepId === "string" && nextStepId !== "")
      connections.push({ field: at, branchId, nextStepId: nextStepId.toLowerCase() });
  };
  const list = listOf(action);
  if (list !== undefined) {
    // The schema says that this is a list of such elements.
    payload[list] = (payload[list] as Item[]).map(({ nextStepId, ...item }, index): JsonObject => {
      const named: Item = item.id === "" ? { ...item, id: newId() } : item;
      want(`${field}.${list}[${index}].nextStepId`, branchIdOf(action, named), nextStepId);
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
  // Exactly this variant is set.
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
  switch (given?.variant.case) {
    case "clientRedirect":
      return [{ field: "payload.clientRedirect.destination", url: given.variant.value.destination }];
    case "socialLinks":
      return given.variant.value.links.map(({ url }, index) => ({
        field: `payload.socialLinks.links[${index}].url`,
        url,
      }));
    case "vcard":
      return [
        { field: "payload.vcard.website", url: given.variant.value.website },
        ...given.variant.value.socialLinks.map(({ url }, index) => ({
          field: `payload.vcard.socialLinks[${index}].url`,
          url,
        })),
      ];
    default:
      return [];
  }
}

/** A stored payload as its message, with where its branches lead. */
export function toPayload(
  action: StepAction,
  stored: JsonObject,
  next: ReadonlyMap<string, string> | undefined,
): MessageInitShape<typeof WorkflowStepPayloadSchema> {
  const payload: Record<string, JsonObject[string]> = { ...stored };
  const list = listOf(action);
  if (list !== undefined && stepActions[action].nodeType === "COMPOSITE") {
    // Written from a list of such elements.
    payload[list] = (payload[list] as Item[]).map((item) => ({
      ...item,
      nextStepId: next?.get(branchIdOf(action, item)) ?? "",
    }));
    if (action !== "MULTI_LINK") payload.elseNextStepId = next?.get(elseBranchId) ?? "";
  }
  return fromJson(
    WorkflowStepPayloadSchema,
    { [stepActions[action].payload]: payload },
    { ignoreUnknownFields: true },
  );
}
