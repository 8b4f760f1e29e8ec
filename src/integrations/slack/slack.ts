import { channelOf, channelsOf, installationOf, nextCursorOf } from "./read-answers.ts";
import type { CallSlack, SlackProblem, SlackResult } from "./result.ts";
import type { SlackConfig } from "./slack-config.ts";

/** What Slack gives for the code of an authorization. */
export interface Installation {
  readonly botToken: string;
  readonly teamId: string;
  readonly teamName: string;
}

export interface Channel {
  readonly id: string;
  readonly name: string;
  /** Whether the bot can post to it. */
  readonly isMember: boolean;
  readonly isPrivate: boolean;
}

/** A message in Block Kit, and the same as plain text for notifications and screen readers. */
export interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly object[];
}

/** Slack, as this service uses it. No call is repeated here, and none throws for what Slack does. */
export interface Slack {
  /** Where people add the bot to their team; undefined without an app. */
  authorizeUrl(state: string): string | undefined;
  /** Undefined without an app. */
  exchangeCode(code: string): Promise<SlackResult<Installation> | undefined>;
  /** Every channel that the bot can see, by name, up to 20,000. */
  listChannels(botToken: string): Promise<SlackResult<readonly Channel[]>>;
  findChannel(botToken: string, id: string): Promise<SlackResult<Channel>>;
  /** Joins a public channel. It succeeds when the bot is there already. */
  joinChannel(botToken: string, id: string): Promise<SlackResult<Channel>>;
  post(botToken: string, channelId: string, message: SlackMessage): Promise<SlackResult<null>>;
  /** Ends the bot's token. */
  revoke(botToken: string): Promise<SlackResult<null>>;
}

export interface SlackDeps {
  readonly config: SlackConfig;
  /** Where Slack sends the browser of somebody who allowed the connection. */
  readonly returnUrl: string;
  /** How long Slack may take to answer, in milliseconds; 10,000 when absent. */
  readonly answerMs?: number;
}

/** What the bot may do (behaviour 8.22). */
const botScopes = ["chat:write", "channels:read", "groups:read", "channels:join"];

/** Slack's greatest page, and how many such pages it gives in a minute. */
const pageSize = 1000;
const pagesMax = 20;

export function createSlack({ config: { apiUrl, app }, returnUrl, answerMs = 10_000 }: SlackDeps): Slack {
  const call = lazyWebApi(apiUrl, answerMs);
  return {
    authorizeUrl(state) {
      if (app === undefined) return undefined;
      const url = new URL("../oauth/v2/authorize", `${apiUrl}/`);
      url.searchParams.set("client_id", app.clientId);
      url.searchParams.set("scope", botScopes.join(","));
      url.searchParams.set("redirect_uri", returnUrl);
      url.searchParams.set("state", state);
      return url.href;
    },
    async exchangeCode(code) {
      if (app === undefined) return undefined;
      const asked = {
        client_id: app.clientId,
        client_secret: app.clientSecret,
        code,
        redirect_uri: returnUrl,
      };
      return read(await call("oauth.v2.access", asked), installationOf);
    },
    listChannels: (botToken) => listChannels(call, botToken),
    findChannel: async (botToken, id) =>
      read(await call("conversations.info", { channel: id }, botToken), channelOf),
    joinChannel: async (botToken, id) =>
      read(await call("conversations.join", { channel: id }, botToken), channelOf),
    async post(botToken, channelId, { text, blocks }) {
      const unfurling = { unfurl_links: false, unfurl_media: false };
      const message = { channel: channelId, text, blocks, ...unfurling, link_names: false };
      return read(await call("chat.postMessage", message, botToken), nothingOf);
    },
    revoke: async (botToken) => read(await call("auth.revoke", {}, botToken), nothingOf),
  };
}

async function listChannels(call: CallSlack, botToken: string): Promise<SlackResult<readonly Channel[]>> {
  const channels: Channel[] = [];
  let cursor = "";
  for (let page = 0; page < pagesMax; page++) {
    const types = "public_channel,private_channel";
    const asked = { types, exclude_archived: true, limit: pageSize, ...(cursor !== "" && { cursor }) };
    const answer = await call("conversations.list", asked, botToken);
    const found = read(answer, channelsOf);
    if (!found.ok) return found;
    channels.push(...found.value);
    cursor = answer.ok ? nextCursorOf(answer.value) : "";
    if (cursor === "") break;
  }
  channels.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return { ok: true, value: channels };
}

/** Loads the library with the first call. */
function lazyWebApi(apiUrl: string, answerMs: number): CallSlack {
  let loading: Promise<CallSlack> | undefined;
  const load = async () => (await import("./web-api.ts")).openWebApi(apiUrl, answerMs);
  return async (...asked) => {
    loading ??= load();
    return (await loading)(...asked);
  };
}

const unreadable: SlackProblem = { kind: "unreachable", why: "the answer lacks what Slack documents" };

type Answer = Readonly<Record<string, unknown>>;

function read<Value>(
  answer: SlackResult<Answer>,
  readValue: (answer: Answer) => Value | undefined,
): SlackResult<Value> {
  if (!answer.ok) return answer;
  const value = readValue(answer.value);
  return value === undefined ? { ok: false, problem: unreadable } : { ok: true, value };
}

const nothingOf = () => null;
