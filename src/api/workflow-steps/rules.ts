import type { WorkflowStepPayload } from "../../../gen/signpost/v1/workflow_step_payload_pb.js";
import type { AttributeCapture } from "../../../gen/signpost/v1/workflow_step_pb.js";
import type {
  CreateWorkflowStepRequest,
  UpdateWorkflowStepRequest,
} from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { type Fault, faultsFrom, invalid, invalidArgument } from "../../lib/errors.ts";
import { fieldsToChange, mayChange } from "../../lib/field-mask.ts";
import { chosenIdFaults } from "../../lib/ids.ts";
import { destinationFaults } from "../../model/links/screened-url.ts";
import { type StepAction, stepActions } from "../../model/steps/kinds.ts";
import { comparisonFault, operatorNamed } from "../../model/visitors/attribute-operators.ts";
import { asksForChoice, parseTemplate } from "../../model/workflow/attribute-capture.ts";
import { branchesOf, nextBranchId } from "../../model/workflow/workflow.ts";
import { fromEventAction } from "./message.ts";
import { fromPayload, urlsOf } from "./payload.ts";

/** What is wrong with requests, without the workflow that they change. */
export function stepChecks(shortUrl: string) {
  const payloadFaults = (payload: WorkflowStepPayload | undefined): Fault[] => [
    ...destinationFaults(urlsOf(payload), [shortUrl]),
    ...comparisonFaults(payload),
  ];
  return {
    create(request: CreateWorkflowStepRequest): Fault[] {
      const { id, payload, attributeCapture, insertBefore } = request;
      const known = [...chosenIdFaults(id), ...payloadFaults(payload), ...templateFaults(attributeCapture)];
      const action = fromEventAction(request.eventAction);
      if (action === undefined || stepActions[action].kind === "ENTRY")
        return [...faultsFrom(() => readAction(request)), ...known];
      return [
        ...known,
        ...faultsFrom(() => fromPayload(action, payload, () => "")),
        ...captureFaults(action, attributeCapture),
        ...(insertBefore === "" ? [] : insertionFaults(action)),
      ];
    },

    change(request: UpdateWorkflowStepRequest): Fault[] {
      const { payload, attributeCapture, updateMask } = request;
      return [
        ...faultsFrom(() => givenFields(request)),
        ...(mayChange(updateMask, "payload") ? payloadFaults(payload) : []),
        ...(mayChange(updateMask, "attribute_capture") ? templateFaults(attributeCapture) : []),
      ];
    },
  };
}

/** The action of a new step. Throws INVALID_ARGUMENT when it is missing, and when it is the entry's. */
export function readAction({ eventAction }: CreateWorkflowStepRequest): StepAction {
  const action = fromEventAction(eventAction);
  if (action === undefined)
    throw invalid([{ field: "eventAction", description: "is required: give it a value" }]);
  if (stepActions[action].kind === "ENTRY")
    throw invalid([
      {
        field: "eventAction",
        description: "must be another action: the link already has its only entry step",
      },
    ]);
  return action;
}

/**
 * The fields that the mask names, or all that are set when there is no mask. Throws INVALID_ARGUMENT for an empty field
 * that must hold something.
 */
export function givenFields(
  request: UpdateWorkflowStepRequest,
): ReadonlySet<"payload" | "attribute_capture" | "canvas_position"> {
  const { payload, attributeCapture, canvasPosition, updateMask } = request;
  const values = { payload, attribute_capture: attributeCapture, canvas_position: canvasPosition };
  const given = fieldsToChange(values, updateMask?.paths);
  if (given.has("payload") && payload?.variant.case === undefined)
    throw invalid([
      { field: "payload", description: "must hold the variant that belongs to the step's action" },
    ]);
  if (given.has("canvas_position") && canvasPosition === undefined)
    throw invalid([{ field: "canvasPosition", description: "is required when the mask names it" }]);
  return given;
}

function insertionFaults(action: StepAction): Fault[] {
  if (branchesOf({ action, payload: {} }).some(({ id }) => id === nextBranchId)) return [];
  return [
    invalidArgument(
      "insertBefore",
      `must be empty: EVENT_ACTION_${action} has no branch ${nextBranchId} to stand before another step`,
    ),
  ];
}

/** What is wrong with capturing attributes at a step of this action. */
export function captureFaults(action: StepAction, capture: AttributeCapture | undefined): Fault[] {
  if (capture === undefined) return [];
  const { enabled, writes } = capture;
  if ((enabled || writes.length > 0) && stepActions[action].kind === "CONDITION")
    return [invalidArgument("attributeCapture", "must be empty on a condition, which captures nothing")];
  if (stepActions[action].offersChoice) return [];
  return writes.flatMap(({ value }, index) =>
    asksForChoice(parseTemplate(value).template)
      ? [
          invalidArgument(
            `attributeCapture.writes[${index}].value`,
            `must not hold {{choice.label}} or {{choice.id}}: EVENT_ACTION_${action} offers no choice`,
          ),
        ]
      : [],
  );
}

function templateFaults(capture: AttributeCapture | undefined): Fault[] {
  return (capture?.writes ?? []).flatMap(({ value }, index) => {
    const [unknown] = parseTemplate(value).unknown;
    if (unknown === undefined) return [];
    const shown = unknown.length > 64 ? `${[...unknown.slice(0, 64)].join("")}…` : unknown;
    return [
      invalidArgument(
        `attributeCapture.writes[${index}].value`,
        `holds ${shown}, which stands for nothing: use {{now}}, {{link.name}}, {{link.metadata.<key>}}, or on a multi-link step {{choice.label}} and {{choice.id}}`,
      ),
    ];
  });
}

function comparisonFaults(payload: WorkflowStepPayload | undefined): Fault[] {
  if (payload?.variant.case !== "visitorDataCondition") return [];
  return payload.variant.value.options.flatMap(({ attributeKey, operator, comparisonValue }, index) => {
    const fault = comparisonFault({
      key: attributeKey,
      operator: operatorNamed(operator),
      wanted: comparisonValue,
    });
    if (fault === undefined) return [];
    const part = fault.part === "operator" ? "operator" : "comparisonValue";
    return [invalidArgument(`payload.visitorDataCondition.options[${index}].${part}`, fault.description)];
  });
}
