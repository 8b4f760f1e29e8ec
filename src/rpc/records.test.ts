import { create, type DescMessage, fromBinary, type Message, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type Event, EventSchema } from "../../gen/signpost/v1/event_pb.js";
import { ListEventsResponseSchema } from "../../gen/signpost/v1/events_service_pb.js";
import { LinkSchema } from "../../gen/signpost/v1/link_pb.js";
import { GetLinkResponseSchema, ListLinksResponseSchema } from "../../gen/signpost/v1/links_service_pb.js";
import { type Codec, recordWriters, writeAnswer } from "./records.ts";

const link = (name: string) =>
  create(LinkSchema, { id: name, name, metadata: { 'ü "': "€ \\" }, tags: [{ name: "a" }] });
const event = (id: string): Event => create(EventSchema, { id, link: link(id), traces: [{ id: "trace" }] });

const answers: [name: string, desc: DescMessage, answer: Message, records: [DescMessage, Message][]][] = [
  page("a list", ListLinksResponseSchema, LinkSchema, [link("a"), link("b")], (links) =>
    create(ListLinksResponseSchema, { links, nextPageToken: "next", totalCount: 7n }),
  ),
  page("a list inside", ListEventsResponseSchema, EventSchema, [event("a"), event("b")], (events) =>
    create(ListEventsResponseSchema, { json: { events, hasMore: true, nextPageToken: "next" } }),
  ),
  page("an empty list", ListLinksResponseSchema, LinkSchema, [], (links) =>
    create(ListLinksResponseSchema, { links }),
  ),
  page("a table", ListEventsResponseSchema, EventSchema, [], () =>
    create(ListEventsResponseSchema, { csv: { contentType: "text/csv", csvData: "a,b\r\n" } }),
  ),
  page("one record", GetLinkResponseSchema, LinkSchema, [link("a")], ([first]) =>
    create(GetLinkResponseSchema, first === undefined ? {} : { link: first }),
  ),
];

function page<Item extends Message>(
  name: string,
  desc: DescMessage,
  recordDesc: DescMessage,
  records: Item[],
  answerOf: (records: Item[]) => Message,
): (typeof answers)[number] {
  return [name, desc, answerOf(records), records.map((record) => [recordDesc, record])];
}

test.each(answers)(
  "%s is the same whether its records were written before or with it",
  (_, desc, answer, records) => {
    const expected = toJson(desc, answer);
    const read = {
      proto: (bytes: Uint8Array) => toJson(desc, fromBinary(desc, bytes)),
      json: (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString()),
    };
    for (const codec of ["proto", "json"] as const satisfies Codec[]) {
      expect(read[codec](writeAnswer(codec, desc, answer))).toEqual(expected);
      const sizes = records.map(([recordDesc, record]) => recordWriters[codec](recordDesc, record));
      const bytes = writeAnswer(codec, desc, answer);
      expect(read[codec](bytes)).toEqual(expected);
      expect(bytes.length).toBeGreaterThanOrEqual(sizes.reduce((sum, size) => sum + size, 0));
    }
  },
);
