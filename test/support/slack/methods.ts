import { blockFaults } from "./block-kit.ts";
import type { PostedMessage } from "./stand-in.ts";
import type { StandInChannel, Team } from "./team.ts";

export interface SlackState {
  readonly app: { readonly clientId: string; readonly clientSecret: string; readonly returnUrl: string };
  readonly team: (name: string) => Team;
  readonly teams: () => Iterable<Team>;
  readonly usedCodes: Set<string>;
  readonly messages: PostedMessage[];
  /** When each channel got its last message. */
  readonly lastPosts: Map<string, number>;
  readonly now: (() => Date) | undefined;
}

interface Call {
  readonly verb: string | undefined;
  readonly authorization: string | undefined;
  readonly sent: Readonly<Record<string, string>>;
}

type Answer = Readonly<Record<string, unknown>>;
type Sent = Call["sent"];

function refuse(error: string, more: Answer = {}): Answer {
  return { ok: false, error, ...more };
}

/** What Slack answers to a call of a method, as its reference of the method says. */
export function answerOf(state: SlackState, method: string, call: Call): Answer {
  if (call.verb !== "POST") return refuse("invalid_arguments");
  if (method === "oauth.v2.access") return grant(state, call.sent);
  const handle = methods[method];
  if (handle === undefined) return refuse("unknown_method");
  const token = /^Bearer (.+)$/.exec(call.authorization ?? "")?.[1];
  if (token === undefined) return refuse("not_authed");
  const team = [...state.teams()].find(({ botToken }) => botToken === token);
  if (team === undefined) return refuse("invalid_auth");
  if (team.refusal !== undefined) return refuse(team.refusal);
  return handle(state, team, call.sent);
}

/** Codes look like `<name of the team>.<anything>`. */
function grant({ app, team: teamOf, usedCodes }: SlackState, sent: Sent): Answer {
  const [, name] = /^([\w -]+)\.[\w-]+$/.exec(sent.code ?? "") ?? [];
  if (sent.client_id !== app.clientId) return refuse("invalid_client_id");
  if (sent.client_secret !== app.clientSecret) return refuse("bad_client_secret");
  if (sent.redirect_uri !== app.returnUrl) return refuse("bad_redirect_uri");
  if (name === undefined || usedCodes.has(sent.code ?? "")) return refuse("invalid_code");
  usedCodes.add(sent.code ?? "");
  const team = teamOf(name);
  if (team.refusal !== undefined) {
    // Whoever installs the app again gets another token.
    team.botToken = `${team.botToken}-again`;
    team.refusal = undefined;
  }
  return {
    ok: true,
    access_token: team.botToken,
    token_type: "bot",
    scope: "chat:write,channels:read,groups:read,channels:join",
    bot_user_id: "U1",
    app_id: "A1",
    team: { id: team.id, name: team.name },
    enterprise: null,
    authed_user: { id: "U2" },
  };
}

const methods: Readonly<Record<string, (state: SlackState, team: Team, sent: Sent) => Answer>> = {
  "conversations.list": (_state, team, sent) => listChannels(team, sent),
  "conversations.info": (_state, team, sent) => {
    const channel = seenBy(team, sent.channel);
    return channel === undefined ? refuse("channel_not_found") : { ok: true, channel: toJson(channel) };
  },
  "conversations.join": (_state, team, sent) => joinChannel(team, sent),
  "chat.postMessage": postMessage,
  "auth.revoke": (_state, team) => {
    team.refusal = "token_revoked";
    return { ok: true, revoked: true };
  },
};

/** Bots see public channels, and private ones that they were invited to. */
function seenBy(team: Team, id: string | undefined): StandInChannel | undefined {
  return team.channels.find((channel) => channel.id === id && (!channel.isPrivate || channel.isMember));
}

function toJson({ id, name, isMember, isPrivate, isArchived }: StandInChannel): Answer {
  return { id, name, is_channel: true, is_member: isMember, is_private: isPrivate, is_archived: isArchived };
}

function listChannels(
  team: Team,
  { types = "public_channel", limit = "100", cursor, exclude_archived }: Sent,
): Answer {
  const size = Number(limit);
  if (!Number.isInteger(size) || size < 1 || size > 1000) return refuse("invalid_limit");
  const start = cursor === undefined ? 0 : Number(/^page:(\d+)$/.exec(cursor)?.[1] ?? Number.NaN);
  if (Number.isNaN(start)) return refuse("invalid_cursor");
  const wanted = types.split(",");
  const seen = team.channels.filter(
    (channel) =>
      seenBy(team, channel.id) !== undefined &&
      wanted.includes(channel.isPrivate ? "private_channel" : "public_channel") &&
      !(exclude_archived === "true" && channel.isArchived),
  );
  const end = start + size;
  return {
    ok: true,
    channels: seen.slice(start, end).map(toJson),
    response_metadata: { next_cursor: end < seen.length ? `page:${end}` : "" },
  };
}

function joinChannel(team: Team, { channel: id }: Sent): Answer {
  const channel = seenBy(team, id);
  if (channel === undefined) return refuse("channel_not_found");
  if (channel.isPrivate) return refuse("method_not_supported_for_channel_type");
  if (channel.isArchived) return refuse("is_archived");
  const warning = channel.isMember ? { warning: "already_in_channel" } : {};
  channel.isMember = true;
  return { ok: true, channel: toJson(channel), ...warning };
}

function postMessage(state: SlackState, team: Team, sent: Sent): Answer {
  const channel = seenBy(team, sent.channel);
  if (channel === undefined) return refuse("channel_not_found");
  if (channel.isArchived) return refuse("is_archived");
  if (!channel.isMember) return refuse("not_in_channel");
  const { text = "" } = sent;
  if (text === "") return refuse("no_text");
  if (text.length > 40_000) return refuse("msg_too_long");
  const blocks: unknown = JSON.parse(sent.blocks ?? "[]");
  const faults = blockFaults(blocks);
  if (faults.length > 0 || !Array.isArray(blocks))
    return refuse("invalid_blocks", { response_metadata: { messages: faults } });
  const at = state.now?.().getTime();
  const last = state.lastPosts.get(channel.id);
  if (at !== undefined && last !== undefined && at - last < 1_000) return refuse("ratelimited");
  if (at !== undefined) state.lastPosts.set(channel.id, at);
  state.messages.push({ team: team.id, channel: channel.id, text, blocks });
  return { ok: true, channel: channel.id, ts: `${state.messages.length}.000100` };
}
