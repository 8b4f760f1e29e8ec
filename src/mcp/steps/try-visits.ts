import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { TriedVisitor, TriedVisitSchema } from "../../../gen/signpost/tasks/v1/workflow_tasks_pb.js";
import { SimulatedEnd_Kind, type SimulatedStep } from "../../../gen/signpost/v1/workflow_simulation_pb.js";
import { type FormField, FormFieldType } from "../../../gen/signpost/v1/workflow_step_payload_page_pb.js";
import { EventAction, type WorkflowStep } from "../../../gen/signpost/v1/workflow_step_pb.js";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import type { Json } from "../tool.ts";
import { read, type Steps } from "./task.ts";
import { shortName } from "./words.ts";

/** Runs a link's workflow for visits whose pages get made-up answers. Nothing is recorded. */
export function* tryVisits(
  linkId: string,
  steps: readonly WorkflowStep[],
  visits: readonly TriedVisitor[],
): Steps<MessageInitShape<typeof TriedVisitSchema>[]> {
  const answers = steps.flatMap(answerOf);
  const asked = visits.length === 0 ? [undefined] : visits;
  const tried: MessageInitShape<typeof TriedVisitSchema>[] = [];
  for (const visit of asked) {
    const { path, end } = yield* read("try a visit", WorkflowStepsService.method.simulate, {
      linkId,
      answers,
      ...(visit && { visit: visitOf(visit) }),
    });
    tried.push({
      path: path.map(lineOf),
      end: shortName(SimulatedEnd_Kind, end?.kind ?? 0),
      destination: end?.destination ?? "",
    });
  }
  return tried;
}

const devices: Readonly<Record<string, string>> = {
  mobile: "DEVICE_TYPE_MOBILE",
  tablet: "DEVICE_TYPE_TABLET",
  desktop: "DEVICE_TYPE_DESKTOP",
};

function visitOf({ country, device, returning, at }: TriedVisitor): Json {
  return {
    country,
    ...(device !== "" && { deviceType: devices[device] }),
    visitType: returning ? "VISIT_TYPE_RETURNING" : "VISIT_TYPE_FIRST",
    ...(at && { at: timestampDate(at).toISOString() }),
  };
}

/** Tried visits in words. */
export function triedLines(tried: readonly MessageInitShape<typeof TriedVisitSchema>[]): string[] {
  return tried.map(({ path = [], end, destination }, index) => {
    const where = destination ? ` at ${destination}` : "";
    return `Visit ${index + 1} ends as ${end}${where}: ${path.join(" → ")}`;
  });
}

function lineOf({ eventAction, branchId, reason }: SimulatedStep): string {
  const way = branchId === "" || branchId === "next" ? "" : ` takes ${branchId}`;
  return `${shortName(EventAction, eventAction)}${way}${reason === "" ? "" : ` (${reason})`}`;
}

/** A plausible answer to a page; none for steps that ask nothing. */
function answerOf({ id, payload }: WorkflowStep): Json[] {
  const variant = payload?.variant;
  switch (variant?.case) {
    case "form":
      return [{ stepId: id, form: { fields: variant.value.formFields.map(fieldAnswer) } }];
    case "messagePage":
      return [{ stepId: id, proceed: true }];
    case "password":
      return [{ stepId: id, passwordMatches: true }];
    case "multiLink": {
      const [first] = variant.value.buttons;
      return first === undefined ? [] : [{ stepId: id, button: first.id }];
    }
    default:
      return [];
  }
}

const samples: Readonly<Partial<Record<FormFieldType, string>>> = {
  [FormFieldType.EMAIL]: "visitor@example.com",
  [FormFieldType.PHONE]: "+4930901820",
  [FormFieldType.NUMBER]: "1",
  [FormFieldType.DATE]: "2030-01-01",
  [FormFieldType.RATING]: "5",
};

function fieldAnswer({ id, type, options }: FormField): Json {
  const [option] = options;
  return { field: id, values: [option?.value ?? samples[type] ?? "an answer"] };
}
