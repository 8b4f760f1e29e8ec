type Json = Readonly<Record<string, unknown>>;

/**
 * What Slack finds wrong with the blocks of a message, by the limits that its reference of Block Kit documents. It knows
 * the blocks that this service sends.
 */
export function blockFaults(blocks: unknown): string[] {
  if (!Array.isArray(blocks) || blocks.length === 0) return ["blocks: must be a list"];
  if (blocks.length > 50) return ["blocks: more than 50"];
  return blocks.flatMap((block: unknown, index) =>
    faultsOf(block).map((fault) => `/blocks/${index}: ${fault}`),
  );
}

function faultsOf(block: unknown): string[] {
  if (!isObject(block)) return ["must be an object"];
  const { type, ...rest } = block;
  if (type === "section") return sectionFaults(rest);
  if (type === "context") return [...unknownKeys(rest, ["elements"]), ...listFaults(rest.elements, 3_000)];
  return [`unsupported type: ${type}`];
}

function sectionFaults(section: Json): string[] {
  const { text, fields } = section;
  return [
    ...unknownKeys(section, ["text", "fields"]),
    ...(text === undefined && fields === undefined ? ["needs text or fields"] : []),
    ...(text === undefined ? [] : textFaults(text, 3_000)),
    ...(fields === undefined ? [] : listFaults(fields, 2_000)),
  ];
}

function listFaults(texts: unknown, lengthMax: number): string[] {
  if (!Array.isArray(texts) || texts.length === 0 || texts.length > 10) return ["needs 1 to 10 texts"];
  return texts.flatMap((text: unknown) => textFaults(text, lengthMax));
}

function textFaults(text: unknown, lengthMax: number): string[] {
  if (!isObject(text)) return ["a text must be an object"];
  const known = text.type === "mrkdwn" ? ["type", "text", "verbatim"] : ["type", "text", "emoji"];
  const content = text.text;
  return [
    ...(text.type === "mrkdwn" || text.type === "plain_text" ? [] : ["a text is mrkdwn or plain_text"]),
    ...unknownKeys(text, known),
    ...(typeof content === "string" && content.length > 0 && content.length <= lengthMax
      ? []
      : [`a text has 1 to ${lengthMax} characters`]),
  ];
}

function unknownKeys(object: Json, known: readonly string[]): string[] {
  return Object.keys(object).flatMap((key) =>
    known.includes(key) ? [] : [`invalid additional property: ${key}`],
  );
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Every text of a message: that for notifications, and those of its blocks. */
export function textsOf(message: { readonly text: string; readonly blocks: readonly unknown[] }): string[] {
  const within = (value: unknown): string[] =>
    Array.isArray(value)
      ? value.flatMap(within)
      : isObject(value)
        ? Object.entries(value).flatMap(([key, each]) =>
            key === "text" && typeof each === "string" ? [each] : within(each),
          )
        : [];
  return [message.text, ...within(message.blocks)];
}

/** What Slack would take for links, mentions and dates in a text: the contents of its angle brackets. */
export function controlsIn(text: string): string[] {
  return [...text.matchAll(/<([^>]*)>/g)].map(([, control = ""]) => control);
}

/** A text as people see it: the labels of links, and characters for their entities. */
export function shownText(text: string): string {
  return text
    .replaceAll(/<[^<>|]*\|([^<>]*)>/g, "$1")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
