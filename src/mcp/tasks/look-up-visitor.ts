import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { validate as isUuid } from "uuid";
import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import type { VisitorProfileSchema } from "../../../gen/signpost/tasks/v1/visit_tasks_pb.js";
import { EventsService } from "../../../gen/signpost/v1/events_service_pb.js";
import type { Visitor } from "../../../gen/signpost/v1/visitor_pb.js";
import { VisitorsService } from "../../../gen/signpost/v1/visitors_service_pb.js";
import { journeyLines, journeyOf } from "../steps/journeys.ts";
import { defineTask, read, type Steps } from "../steps/task.ts";
import { counted, marked, openRoom, roomNote, strangers, strangersNote } from "../steps/words.ts";

/** How many attributes of a visitor are shown. */
const attributesMax = 50;

/** How many visitors are shown when several match. */
const candidatesMax = 10;

/** Finds a visitor and tells what happened at each visit. */
export const lookUpVisitor = defineTask(
  TasksService.method.lookUpVisitor,
  [VisitorsService.method.get, VisitorsService.method.search, EventsService.method.listEvents],
  function* ({ who, visits }) {
    const { visitors, total } = yield* findVisitors(who.trim());
    const [visitor] = visitors;
    if (visitor === undefined) return { result: {}, text: [`No visitor matches ${marked(who)}.`] };
    if (visitors.length > 1)
      return {
        result: { candidates: visitors.map((each) => profileOf(each, 0)) },
        text: [
          strangersNote,
          `${total} visitors match. Call again with the id of one:`,
          ...visitors.map((each) => `- ${each.id} ${nameOf(each)}`),
        ],
      };
    const { json } = yield* read("read the visits", EventsService.method.listEvents, {
      visitorId: visitor.id,
      include: ["link", "device", "journey", "traces"],
      pageSize: visits || 5,
    });
    const events = json?.events ?? [];
    const room = openRoom();
    return {
      result: {
        visitor: profileOf(visitor, attributesMax),
        journeys: events.map((event) => journeyOf(event, room)),
      },
      text: [
        strangersNote,
        ...(room.isFull() ? [roomNote] : []),
        ...profileLines(visitor),
        "Latest visits:",
        ...events.flatMap(journeyLines),
      ],
    };
  },
);

function* findVisitors(
  who: string,
): Steps<{ readonly visitors: readonly Visitor[]; readonly total: number }> {
  if (isUuid(who)) {
    const { visitor } = yield* read("get the visitor", VisitorsService.method.get, { id: who });
    return { visitors: visitor === undefined ? [] : [visitor], total: 1 };
  }
  const { json } = yield* read("look for the visitor", VisitorsService.method.search, {
    ...(who.includes("@") ? { email: who } : { search: who }),
    pageSize: candidatesMax,
  });
  return { visitors: json?.visitors ?? [], total: Number(json?.totalCount ?? 0n) };
}

function profileOf(visitor: Visitor, shown: number): MessageInitShape<typeof VisitorProfileSchema> {
  const { id, firstName, lastName, email, phone, visitCount, attributes, createdAt } = visitor;
  const texts = {
    name: strangers(`${firstName} ${lastName}`.trim()),
    email: strangers(email),
    phone: strangers(phone),
  };
  return {
    id,
    ...given(texts),
    visits: Number(visitCount),
    attributes: attributes
      .slice(0, shown)
      .map(({ key, value }) => given({ key: strangers(key), value: strangers(value) })),
    ...(createdAt && { firstSeen: createdAt }),
  };
}

/** The entries that have a value. */
function given<Value>(entries: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

function profileLines(visitor: Visitor): string[] {
  const { id, visitCount, attributes, createdAt } = visitor;
  return [
    `Visitor ${id}: ${nameOf(visitor)}; ${counted(Number(visitCount), "visit")}, first seen ${timeOf(createdAt)}.`,
    ...attributes.slice(0, attributesMax).map(({ key, value }) => `- ${marked(key)} = ${marked(value)}`),
  ];
}

function nameOf({ firstName, lastName, email, phone }: Visitor): string {
  const texts = [`${firstName} ${lastName}`.trim(), email, phone].filter((text) => text !== "");
  return texts.map(marked).join(" ") || "anonymous";
}

function timeOf(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}
