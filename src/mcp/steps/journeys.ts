import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  FormAnswerSchema,
  VisitorJourneySchema,
} from "../../../gen/signpost/tasks/v1/visit_tasks_pb.js";
import { DeviceType } from "../../../gen/signpost/v1/device_pb.js";
import type { Event } from "../../../gen/signpost/v1/event_pb.js";
import type { FormTraceData, FormTraceDataField } from "../../../gen/signpost/v1/event_trace_page_pb.js";
import type { EventTrace } from "../../../gen/signpost/v1/event_trace_pb.js";
import { Action } from "../../../gen/signpost/v1/visit_pb.js";
import { EventAction } from "../../../gen/signpost/v1/workflow_step_pb.js";
import { marked, type Room, shortName, strangers } from "./words.ts";

/** How many steps of a visit are shown, and how many answers of a form. */
const shownMax = 50;

/** One visit and its steps, in short. */
export function journeyOf(event: Event, room: Room): MessageInitShape<typeof VisitorJourneySchema> {
  const { id, scannedAt, link, action, device, journey, traces } = event;
  return {
    eventId: id,
    ...(scannedAt && { at: scannedAt }),
    link: link?.name ?? "",
    action: shortName(Action, action),
    country: device?.country ?? "",
    device: shortName(DeviceType, device?.deviceType ?? 0),
    completed: journey?.completed ?? false,
    steps: traces.slice(0, shownMax).map((trace) => ({
      action: shortName(EventAction, trace.stepAction),
      done: trace.completedAt !== undefined,
      answers: answersOf(formOf(trace), room),
    })),
  };
}

/** The same as lines for a model. */
export function journeyLines(event: Event): string[] {
  const { scannedAt, link, action, device, traces, journey } = event;
  const at = scannedAt === undefined ? "" : timestampDate(scannedAt).toISOString();
  const steps = traces.slice(0, shownMax).map(stepLine);
  const end = journey?.completed === true ? "reached the end" : "did not reach the end";
  const place = [device?.country, shortName(DeviceType, device?.deviceType ?? 0)].filter(Boolean).join(", ");
  return [
    `- ${at} ${shortName(Action, action)} of "${link?.name ?? "a deleted link"}"${place && ` (${place})`}, ${end}: ${steps.join(" → ")}`,
  ];
}

function stepLine(trace: EventTrace): string {
  const answers = fieldsOf(formOf(trace)).map(({ label, key, value }) => `${label || key} ${marked(value)}`);
  const left = trace.completedAt === undefined ? " (left there)" : "";
  return `${shortName(EventAction, trace.stepAction)}${left}${answers.length === 0 ? "" : `: ${answers.join(", ")}`}`;
}

/** The form of a step's trace, if it was one. */
export function formOf({ stepData }: EventTrace): FormTraceData | undefined {
  return stepData?.data.case === "form" ? stepData.data.value : undefined;
}

/** The questions that a visitor answered. */
export function fieldsOf(form: FormTraceData | undefined): readonly FormTraceDataField[] {
  return (form?.fields ?? []).slice(0, shownMax).filter(({ value }) => value !== "");
}

/** The answers of a form that have room, marked as a visitor's. */
export function answersOf(
  form: FormTraceData | undefined,
  room: Room,
): MessageInitShape<typeof FormAnswerSchema>[] {
  return fieldsOf(form).flatMap(({ label, key, value }) => {
    const question = label || key;
    const answer = strangers(value);
    return answer !== undefined && room.take(question, value) ? [{ question, answer }] : [];
  });
}
