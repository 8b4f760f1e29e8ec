import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import type { ChoiceCountSchema, FilledFormSchema } from "../../../gen/signpost/tasks/v1/visit_tasks_pb.js";
import type { Event } from "../../../gen/signpost/v1/event_pb.js";
import type { FormTraceData } from "../../../gen/signpost/v1/event_trace_page_pb.js";
import { EventsService } from "../../../gen/signpost/v1/events_service_pb.js";
import { invalid } from "../../lib/errors.ts";
import { findLink, linkFinding, summariesOf } from "../steps/find-link.ts";
import { answersOf, fieldsOf, formOf } from "../steps/journeys.ts";
import { periodOf } from "../steps/period.ts";
import { defineTask, read } from "../steps/task.ts";
import { counted, marked, openRoom, type Room, roomNote, strangers, strangersNote } from "../steps/words.ts";

/** The kinds of questions whose answers are counted. */
const counting: ReadonlySet<string> = new Set(["RADIO", "DROPDOWN", "CHECKBOX", "RATING"]);

/** How many counts of choices a result holds. */
const choicesMax = 100;

/** One form that a visitor sent. */
interface Filled {
  readonly event: Event;
  readonly form: FormTraceData;
}

/** Reads the answers to a link's forms from its visits, a page of visits at a time. */
export const readFormAnswers = defineTask(
  TasksService.method.readFormAnswers,
  [...linkFinding, EventsService.method.listEvents],
  function* ({ link: named, days, limit, page }, now) {
    const link = yield* findLink(named);
    // The pages of one reading have the same beginning, or the token would not be theirs.
    const { since, token } =
      page === "" ? { since: periodOf(days, undefined, now).from, token: "" } : pageOf(page);
    const { json } = yield* read("read the visits", EventsService.method.listEvents, {
      linkId: link.id,
      startDate: since.toISOString(),
      include: ["traces"],
      pageSize: limit || 50,
      pageToken: token,
    });
    const { events = [], nextPageToken = "" } = json ?? {};
    const filled = events.flatMap(filledIn);
    const choices = countChoices(filled);
    const room = openRoom();
    const forms = filled.map((each) => shortForm(each, room));
    const [summary] = yield* summariesOf([link]);
    return {
      result: {
        ...(summary && { link: summary }),
        choices,
        forms,
        visits: events.length,
        nextPage: nextPageToken === "" ? "" : `${since.getTime()}.${nextPageToken}`,
      },
      text: [
        strangersNote,
        ...(room.isFull() ? [roomNote] : []),
        ...(nextPageToken === "" ? [] : ["There are more visits: call again with page set to nextPage."]),
        `"${link.name}": ${counted(filled.length, "form")} filled in at the ${counted(events.length, "visit")} looked at.`,
        ...choices.map(
          ({ question, answer, count }) => `- ${question}: ${marked(answer?.untrusted ?? "")} ${count} times`,
        ),
        ...filled.map(formLine),
      ],
    };
  },
);

function pageOf(page: string): { readonly since: Date; readonly token: string } {
  const [, since = "", token = ""] = /^([0-9]{1,15})\.(.+)$/s.exec(page) ?? [];
  if (token === "")
    throw invalid([{ field: "page", description: "is no nextPage of an answer" }], "INVALID_PAGE_TOKEN");
  return { since: new Date(Number(since)), token };
}

function filledIn(event: Event): Filled[] {
  return event.traces.flatMap((trace) => {
    const form = formOf(trace);
    return form?.action === "SUBMITTED" ? [{ event, form }] : [];
  });
}

function shortForm({ event, form }: Filled, room: Room): MessageInitShape<typeof FilledFormSchema> {
  const { id, visitorId, scannedAt } = event;
  return { eventId: id, visitorId, ...(scannedAt && { at: scannedAt }), answers: answersOf(form, room) };
}

function formLine({ event, form }: Filled): string {
  const at = event.scannedAt === undefined ? "" : timestampDate(event.scannedAt).toISOString();
  const answers = fieldsOf(form).map(({ label, key, value }) => `${label || key} ${marked(value)}`);
  return `- ${at}: ${answers.join("; ")}`;
}

/** How often each answer to a question with choices was given; several boxes of one question count each. */
function countChoices(filled: readonly Filled[]): MessageInitShape<typeof ChoiceCountSchema>[] {
  const counts = new Map<string, { readonly question: string; readonly text: string; count: number }>();
  for (const { form } of filled) {
    for (const { label, key, type, value } of fieldsOf(form)) {
      if (!counting.has(type)) continue;
      const question = label || key;
      for (const text of type === "CHECKBOX" ? value.split(", ") : [value]) {
        const known = counts.get(`${question}\n${text}`) ?? { question, text, count: 0 };
        counts.set(`${question}\n${text}`, { ...known, count: known.count + 1 });
      }
    }
  }
  return [...counts.values()]
    .toSorted((a, b) => b.count - a.count)
    .slice(0, choicesMax)
    .map(({ question, text, count }) => ({ question, answer: strangers(text) ?? {}, count }));
}
