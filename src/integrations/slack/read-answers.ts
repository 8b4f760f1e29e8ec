import type { Channel, Installation } from "./slack.ts";

type Answer = Readonly<Record<string, unknown>>;

/** The longest text that is taken from an answer; names at Slack have at most 255 characters. */
const textMax = 255;

function isRecord(value: unknown): value is Answer {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, textMax) : undefined;
}

/** Reads the answer of oauth.v2.access. Undefined unless it has a bot's token of a team. */
export function installationOf(answer: Answer): Installation | undefined {
  const { access_token, token_type, team } = answer;
  if (typeof access_token !== "string" || access_token === "" || token_type !== "bot" || !isRecord(team))
    return undefined;
  const teamId = textOf(team.id);
  return teamId === undefined
    ? undefined
    : { botToken: access_token, teamId, teamName: textOf(team.name) ?? "" };
}

function readChannel(value: unknown): Channel | undefined {
  if (!isRecord(value)) return undefined;
  const id = textOf(value.id);
  if (id === undefined) return undefined;
  const isMember = value.is_member === true && value.is_archived !== true;
  return { id, name: textOf(value.name) ?? "", isMember, isPrivate: value.is_private === true };
}

/** Reads the answers of conversations.info and conversations.join. */
export function channelOf({ channel }: Answer): Channel | undefined {
  return readChannel(channel);
}

/** Reads a page of conversations.list. */
export function channelsOf({ channels }: Answer): readonly Channel[] | undefined {
  if (!Array.isArray(channels)) return undefined;
  return channels.flatMap((each) => readChannel(each) ?? []);
}

/** The place of the next page; empty after the last one. */
export function nextCursorOf({ response_metadata }: Answer): string {
  const cursor = isRecord(response_metadata) ? response_metadata.next_cursor : undefined;
  return typeof cursor === "string" ? cursor : "";
}
