import { create, type DescField, type DescMessage, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** How a message is written: protobuf's bytes, or its JSON. */
export type Codec = "proto" | "json";

/**
 * Writes a record of an answer before the answer is complete, keeps the bytes for it, and returns how many there are.
 */
export type WriteRecord = (desc: DescMessage, record: Message) => number;

/* An entry lives as long as its record, which lives as long as its answer. */
const binaries = new WeakMap<Message, Uint8Array>();
const texts = new WeakMap<Message, Buffer>();

/** Writes records for `writeAnswer` with the same codec. */
export const recordWriters: Readonly<Record<Codec, WriteRecord>> = {
  proto(desc, record) {
    const bytes = toBinary(desc, record);
    binaries.set(record, bytes);
    return bytes.length;
  },
  json(desc, record) {
    const text = Buffer.from(JSON.stringify(toJson(desc, record)));
    texts.set(record, text);
    return text.length;
  },
};

/** Writes an answer; records that `recordWriters` has written already are not written again. */
export function writeAnswer(codec: Codec, desc: DescMessage, answer: Message): Uint8Array {
  return codec === "proto" ? binaryOf(desc, answer) : Buffer.concat(textOf(desc, answer));
}

function binaryOf(desc: DescMessage, answer: Message): Uint8Array {
  const places = placesOf(desc);
  if (places === undefined) return toBinary(desc, answer);
  const writer = new BinaryWriter().raw(toBinary(desc, without(desc, answer, places)));
  for (const { field, message } of places.lists) {
    for (const record of recordsIn(answer, field))
      writer
        .tag(field.number, WireType.LengthDelimited)
        .bytes(binaries.get(record) ?? toBinary(message, record));
  }
  for (const { field, message } of places.pages) {
    const page = held<Message | undefined>(answer, field);
    if (page) writer.tag(field.number, WireType.LengthDelimited).bytes(binaryOf(message, page));
  }
  return writer.finish();
}

/** The pieces of an answer's JSON in UTF-8. */
function textOf(desc: DescMessage, answer: Message): Buffer[] {
  const places = placesOf(desc);
  if (places === undefined) return [jsonOf(desc, answer)];
  const rest = jsonOf(desc, without(desc, answer, places)).subarray(1, -1);
  const members = rest.length === 0 ? [] : [[rest]];
  for (const { field, message } of places.lists) {
    const records = recordsIn(answer, field).map((record) => [texts.get(record) ?? jsonOf(message, record)]);
    if (records.length > 0)
      members.push([Buffer.from(`"${field.jsonName}":[`), ...listed(records), Buffer.from("]")]);
  }
  for (const { field, message } of places.pages) {
    const page = held<Message | undefined>(answer, field);
    if (page) members.push([Buffer.from(`"${field.jsonName}":`), ...textOf(message, page)]);
  }
  return [Buffer.from("{"), ...listed(members), Buffer.from("}")];
}

function jsonOf(desc: DescMessage, message: Message): Buffer {
  return Buffer.from(JSON.stringify(toJson(desc, message)));
}

const comma = Buffer.from(",");

function listed(parts: readonly (readonly Buffer[])[]): Buffer[] {
  return parts.flatMap((part, index) => (index === 0 ? part : [comma, ...part]));
}

/** A field whose values are messages. */
interface MessageField {
  readonly field: DescField;
  readonly message: DescMessage;
}

/** The places of an answer's records: its own lists, and the pages that it embeds. */
interface Places {
  readonly lists: readonly MessageField[];
  readonly pages: readonly MessageField[];
}

const knownPlaces = new Map<DescMessage, Places | undefined>();

/** Finds the places of an answer's records; undefined for answers without pages. */
function placesOf(desc: DescMessage): Places | undefined {
  if (!knownPlaces.has(desc)) knownPlaces.set(desc, findPlaces(desc));
  return knownPlaces.get(desc);
}

function findPlaces(desc: DescMessage): Places | undefined {
  const of = (kind: "list" | "message") =>
    desc.fields.flatMap((field) =>
      field.fieldKind === kind && field.message !== undefined ? [{ field, message: field.message }] : [],
    );
  if (isPage(desc)) return { lists: of("list"), pages: [] };
  const pages = of("message").filter(({ message }) => isPage(message));
  return pages.length === 0 ? undefined : { lists: [], pages };
}

function isPage(desc: DescMessage): boolean {
  return desc.fields.some(({ name }) => name === "next_page_token");
}

function without(desc: DescMessage, answer: Message, { lists, pages }: Places): Message {
  const emptied = [
    ...lists.map(({ field }) => [field.localName, []]),
    ...pages.map(({ field }) => [field.localName, undefined]),
  ];
  return Object.assign(create(desc), answer, Object.fromEntries(emptied));
}

function recordsIn(answer: Message, field: DescField): readonly Message[] {
  return held(answer, field);
}

// The caller takes `field` from the message's own descriptor.
function held<Value>(answer: Message, field: DescField): Value {
  return (answer as unknown as Readonly<Record<string, unknown>>)[field.localName] as Value;
}
