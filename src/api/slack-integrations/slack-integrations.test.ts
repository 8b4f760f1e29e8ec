import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { SlackIntegrationsService } from "../../../gen/signpost/v1/slack_integrations_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { middleOfMonth, tickingClock } from "../../../test/support/clock.ts";
import { signInAs } from "../../../test/support/sign-in.ts";
import { returnUrl, slackApp, startSlack } from "../../../test/support/slack/stand-in.ts";
import { type Api, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { createSlack } from "../../integrations/slack/slack.ts";

const slack = await startSlack();
afterAll(slack.close);
const clock = tickingClock(middleOfMonth());
const api = await startApi({ clock, deps: { slack: slack.client } });
// The same service, which gives up soon: only for calls that Slack does not answer.
const hasty = await startApi({
  database: api.database,
  clock,
  deps: { slack: createSlack({ config: { apiUrl: slack.apiUrl, app: slackApp }, returnUrl, answerMs: 500 }) },
});
const { method } = SlackIntegrationsService;
const both = ["rest", "grpc"] as const;
type Operation = (typeof method)[keyof typeof method];
/** The answer, whose fields the assertions name. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape.
type Body = any;

let workspace: TestWorkspace;
let name: string;
let codes = 0;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  name = `team ${workspace.workspaceId}`;
  // A call that was given up before it arrived left its answer behind.
  slack.answerProperly();
});

const team = () => slack.team(name);
const channelId = (suffix: string) => team().channels.find(({ id }) => id.endsWith(suffix))?.id ?? "";
const newCode = () => `${name}.${++codes}`;

async function call(
  operation: Operation,
  request: JsonObject = {},
  protocol: (typeof both)[number] = "rest",
  on: Api = api,
) {
  const { reason, message, body } = await ask(on, protocol, operation, request, workspace.token);
  return { reason, message, body: body as Body };
}

async function stateFor(): Promise<string> {
  const { body } = await call(method.getOAuthURL);
  return new URL(body.oauthUrl).searchParams.get("state") ?? "";
}

async function connect(): Promise<Body> {
  const { reason, body } = await call(method.completeOAuth, { code: newCode(), state: await stateFor() });
  expect(reason).toBe("OK");
  return body.slackIntegration;
}

async function connectTo(suffix = "GENERAL"): Promise<Body> {
  await connect();
  const { reason, body } = await call(method.update, { slackChannelId: channelId(suffix) });
  expect(reason).toBe("OK");
  return body.slackIntegration;
}

const current = async (): Promise<Body> => (await call(method.get)).body.slackIntegration ?? undefined;

/** How many revocations are queued, of all workspaces. */
async function revocations(): Promise<number> {
  const { rows } = await api.database.pool.query(
    "select from graphile_worker._private_jobs where payload ->> 'sealedToken' <> ''",
  );
  return rows.length;
}

async function subscriber(): Promise<
  { status: string; link_id: string | null; triggers: string[] } | undefined
> {
  return api.db
    .selectFrom("outbox_subscribers")
    .select(["status", "link_id", "triggers"])
    .where("workspace_id", "=", workspace.workspaceId)
    .executeTakeFirst();
}

describe.each(both)("over %s", (protocol) => {
  test("the address of the authorization names the app, the bot's scopes, the way back and a state", async () => {
    const { body } = await call(method.getOAuthURL, {}, protocol);
    const url = new URL(body.oauthUrl);
    expect(`${url.origin}${url.pathname}`).toBe(slack.apiUrl.replace("/api", "/oauth/v2/authorize"));
    const { state, ...rest } = Object.fromEntries(url.searchParams);
    expect(rest).toEqual({
      client_id: "123.456",
      scope: "chat:write,channels:read,groups:read,channels:join",
      redirect_uri: "http://api.test/docs/connected",
    });
    expect(state).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  test("a code connects the team: active, without a channel, and nothing is queued for it", async () => {
    expect((await call(method.get, {}, protocol)).body.slackIntegration ?? null).toBeNull();
    const request = { code: newCode(), state: await stateFor() };
    const { body } = await call(method.completeOAuth, request, protocol);
    expect(body.slackIntegration).toMatchObject({
      workspaceId: workspace.workspaceId,
      status: "SLACK_INTEGRATION_STATUS_ACTIVE",
      slackTeamId: team().id,
      slackTeamName: name,
      slackChannelId: "",
      linkId: "",
      triggers: [],
      successCount: "0",
      failureCount: "0",
      createdBy: "",
      lastError: "",
    });
    expect((await call(method.get, {}, protocol)).body).toEqual(body);
    expect(await subscriber()).toMatchObject({ status: "PAUSED" });
  });

  test("channels are listed by name, with those that the bot can post to", async () => {
    await connect();
    const { body } = await call(method.listChannels, {}, protocol);
    expect(body.channels).toEqual([
      { id: channelId("GENERAL"), name: "general", isMember: true, isPrivate: false },
      { id: channelId("OWNERS"), name: "owners", isMember: true, isPrivate: true },
      { id: channelId("RANDOM"), name: "random", isMember: false, isPrivate: false },
    ]);
  });

  test("the bot joins a public channel, which can then be chosen", async () => {
    await connect();
    const id = channelId("RANDOM");
    expect((await call(method.update, { slackChannelId: id }, protocol)).reason).toBe("CHANNEL_NOT_JOINED");
    const joined = await call(method.joinChannel, { id }, protocol);
    expect(joined.body).toEqual({ channel: { id, name: "random", isMember: true, isPrivate: false } });
    expect((await call(method.joinChannel, { id }, protocol)).body).toEqual(joined.body);
    const { body } = await call(method.update, { slackChannelId: id }, protocol);
    expect(body.slackIntegration).toMatchObject({ slackChannelId: id, slackChannelName: "random" });
    expect(await subscriber()).toMatchObject({ status: "ACTIVE" });
  });

  test.each([
    ["a private channel", "OWNERS", "CHANNEL_NOT_JOINED"],
    ["a private channel without the bot", "SECRET", "NOT_FOUND"],
    ["an archived channel", "OLD", "CHANNEL_NOT_JOINED"],
    ["no channel", "NONE", "NOT_FOUND"],
  ])("the bot does not join %s", async (_, suffix, reason) => {
    await connect();
    const id = channelId(suffix) || "C0NONE";
    expect((await call(method.joinChannel, { id }, protocol)).reason).toBe(reason);
  });

  test.each(["SECRET", "OLD", "NONE"])("channel %s cannot be chosen, and nothing changes", async (suffix) => {
    await connectTo();
    const before = await current();
    const request = { slackChannelId: channelId(suffix) || "C0NONE", slackChannelName: "mine" };
    expect((await call(method.update, request, protocol)).reason).toBe("CHANNEL_NOT_JOINED");
    expect(await current()).toEqual(before);
  });

  test("pausing, filters and a name change what they name, and the same again changes nothing", async () => {
    await connectTo();
    const linkId = (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json
      .link.id;
    const request = {
      status: "SLACK_INTEGRATION_STATUS_PAUSED",
      linkId,
      triggers: ["KIND_EXIT", "KIND_ENTRY", "KIND_EXIT"],
      slackChannelName: "our channel",
    };
    const changed = (await call(method.update, request, protocol)).body.slackIntegration;
    expect(changed).toMatchObject({
      status: "SLACK_INTEGRATION_STATUS_PAUSED",
      slackChannelId: channelId("GENERAL"),
      slackChannelName: "our channel",
      linkId,
      triggers: ["KIND_ENTRY", "KIND_EXIT"],
    });
    expect(await subscriber()).toEqual({ status: "PAUSED", link_id: linkId, triggers: ["ENTRY", "EXIT"] });
    expect((await call(method.update, request, protocol)).body.slackIntegration).toEqual(changed);
    const cleared = { status: "SLACK_INTEGRATION_STATUS_ACTIVE", linkId: "", triggers: [] };
    const mask = protocol === "grpc" ? { updateMask: "status,linkId,triggers" } : {};
    const { body } = await call(method.update, { ...cleared, ...mask }, protocol);
    expect(body.slackIntegration).toMatchObject({ ...cleared, slackChannelName: "our channel" });
    expect(await subscriber()).toEqual({ status: "ACTIVE", link_id: null, triggers: [] });
  });

  test.each([
    ["the status DISCONNECTED", { status: "SLACK_INTEGRATION_STATUS_DISCONNECTED" }, "INVALID_ARGUMENT"],
    ["an unspecified trigger", { triggers: ["KIND_EXIT", "KIND_UNSPECIFIED"] }, "INVALID_ARGUMENT"],
    ["a link that does not exist", { linkId: randomUUID() }, "NOT_FOUND"],
    [
      "no channel while it is active",
      { slackChannelId: "", updateMask: "slackChannelId" },
      "CHANNEL_REQUIRED",
    ],
    ["a name that is too long", { slackChannelName: "n".repeat(256) }, "INVALID_ARGUMENT"],
  ])("a change to %s is refused, and nothing changes", async (_, request, reason) => {
    await connectTo();
    const before = await current();
    const { updateMask, ...rest } = request as JsonObject;
    const sent = protocol === "grpc" ? request : rest;
    expect((await call(method.update, sent as JsonObject, protocol)).reason).toBe(reason);
    expect(await current()).toEqual(before);
  });

  test("a test message is sent to the channel and counted, paused or not", async () => {
    await connectTo();
    await call(method.update, { status: "SLACK_INTEGRATION_STATUS_PAUSED" });
    expect((await call(method.test, {}, protocol)).body).toEqual({ success: true });
    const [sent] = slack.messages.filter((message) => message.team === team().id);
    expect(sent).toMatchObject({ channel: channelId("GENERAL"), text: expect.stringContaining("connected") });
    expect(await current()).toMatchObject({
      successCount: "1",
      failureCount: "0",
      lastSentAt: expect.any(String),
    });
  });

  test("a test message that Slack refuses is a success of the call, counted, and told with what to do", async () => {
    await connectTo();
    const [general] = team().channels;
    if (general !== undefined) general.isMember = false;
    expect((await call(method.test, {}, protocol)).body).toEqual({ success: false });
    expect(await current()).toMatchObject({
      status: "SLACK_INTEGRATION_STATUS_ACTIVE",
      successCount: "0",
      failureCount: "1",
      lastError: "The bot is not in the channel. Let it join, or invite it in Slack.",
    });
    if (general !== undefined) general.isMember = true;
    expect((await call(method.test, {}, protocol)).body).toEqual({ success: true });
    expect(await current()).toMatchObject({ failureCount: "1", successCount: "1", lastError: "" });
  });

  test("nothing is tested without a channel, and no channel is needed while it is paused", async () => {
    await connect();
    const required = "CHANNEL_REQUIRED";
    expect((await call(method.test, {}, protocol)).reason).toBe(required);
    const active = { status: "SLACK_INTEGRATION_STATUS_ACTIVE" };
    expect((await call(method.update, active, protocol)).reason).toBe(required);
    const paused = { status: "SLACK_INTEGRATION_STATUS_PAUSED" };
    expect((await call(method.update, paused, protocol)).reason).toBe("OK");
    expect((await call(method.update, active, protocol)).reason).toBe(required);
    expect((await call(method.update, { triggers: ["KIND_EXIT"] }, protocol)).reason).toBe("OK");
  });

  test("where nothing is connected, there is nothing to list, join, test, change or delete", async () => {
    const answers = await Promise.all([
      call(method.listChannels, {}, protocol),
      call(method.joinChannel, { id: "C1" }, protocol),
      call(method.test, {}, protocol),
      call(method.update, { triggers: ["KIND_EXIT"] }, protocol),
      call(method.delete, {}, protocol),
    ]);
    expect(answers.map(({ reason }) => reason)).toEqual(Array.from(answers, () => "NOT_FOUND"));
  });

  test("deleting ends the integration and queues the revocation of its token", async () => {
    await connectTo();
    const before = await revocations();
    expect((await call(method.delete, {}, protocol)).reason).toBe("OK");
    expect(await current()).toBeUndefined();
    expect(await subscriber()).toBeUndefined();
    expect(await revocations()).toBe(before + 1);
    expect((await call(method.delete, {}, protocol)).reason).toBe("NOT_FOUND");
  });

  test.each([
    ["damaged", async () => `${await stateFor()}x`],
    [
      "another caller's",
      async () => {
        const stranger = await api.newWorkspace();
        const { json } = await stranger.rest("GET", "/v1/slack-integrations/oauth-url");
        return new URL(json.oauthUrl).searchParams.get("state") ?? "";
      },
    ],
    [
      "a member's of the same workspace",
      async () => {
        const member = await signInAs(api, workspace);
        const { json } = await member.rest("GET", "/v1/slack-integrations/oauth-url");
        return new URL(json.oauthUrl).searchParams.get("state") ?? "";
      },
    ],
    [
      "older than ten minutes",
      async () => {
        const state = await stateFor();
        clock.advance(10 * 60 * 1000);
        return state;
      },
    ],
  ])("a state that is %s connects nothing, and Slack is not asked", async (_, stateOf) => {
    const code = newCode();
    const answer = await call(method.completeOAuth, { code, state: await stateOf() }, protocol);
    expect(answer.reason).toBe("INVALID_STATE");
    expect(slack.requests.some((request) => request.arguments.code === code)).toBe(false);
    expect(await current()).toBeUndefined();
  });

  test("a code that Slack refuses, or that was used, connects nothing", async () => {
    const state = await stateFor();
    expect((await call(method.completeOAuth, { code: "nonsense", state }, protocol)).reason).toBe(
      "INVALID_STATE",
    );
    expect(await current()).toBeUndefined();
    const code = newCode();
    expect((await call(method.completeOAuth, { code, state }, protocol)).reason).toBe("OK");
    const before = await current();
    expect((await call(method.completeOAuth, { code, state }, protocol)).reason).toBe("INVALID_STATE");
    expect(await current()).toEqual(before);
  });
});

test("over gRPC a mask cannot set the status to UNSPECIFIED; over REST that is no value", async () => {
  await connectTo();
  const before = await current();
  const request = { status: "SLACK_INTEGRATION_STATUS_UNSPECIFIED" };
  const masked = { ...request, updateMask: "status" };
  expect((await call(method.update, masked, "grpc")).reason).toBe("INVALID_ARGUMENT");
  expect((await call(method.update, request)).reason).toBe("OK");
  expect(await current()).toEqual(before);
});

test("a member who connects is named as its maker, until the member is deleted", async () => {
  const member = await signInAs(api, workspace);
  const { json } = await member.rest("GET", "/v1/slack-integrations/oauth-url");
  const state = new URL(json.oauthUrl).searchParams.get("state");
  const made = await member.rest("POST", "/v1/slack-integrations/oauth/complete", { code: newCode(), state });
  expect(made.json.slackIntegration.createdBy).toBe(member.memberId);
  await workspace.rest("DELETE", `/v1/members/${member.memberId}`);
  expect((await current()).createdBy).toBe("");
});

test("a second completion replaces the integration, and the token of the other team is revoked", async () => {
  const first = await connectTo();
  const before = await revocations();
  const token = team().botToken;
  name = `another ${workspace.workspaceId}`;
  const second = await connect();
  expect(second.id).not.toBe(first.id);
  expect(second).toMatchObject({ slackTeamName: name, slackChannelId: "", triggers: [] });
  expect(await revocations()).toBe(before + 1);
  expect(team().botToken).not.toBe(token);
});

test("two completions at once leave one integration", async () => {
  const state = await stateFor();
  const complete = () => call(method.completeOAuth, { code: newCode(), state });
  const answers = await Promise.all([complete(), complete(), complete()]);
  expect(answers.map(({ reason }) => reason)).toEqual(["OK", "OK", "OK"]);
  const ids = answers.map(({ body }) => body.slackIntegration.id);
  expect(ids).toContain((await current()).id);
  const { rows } = await api.database.pool.query("select from outbox_subscribers where workspace_id = $1", [
    workspace.workspaceId,
  ]);
  expect(rows).toHaveLength(1);
});

test("tokens are sealed: neither the database nor an answer nor the log has one", async () => {
  const integration = await connectTo();
  await call(method.test);
  await call(method.delete);
  const { botToken } = team();
  const { rows } = await api.database.pool.query(
    "select (select string_agg(i::text, '') from slack_integrations i) as rows, (select string_agg(payload::text, '') from graphile_worker._private_jobs) as jobs",
  );
  expect(JSON.stringify(rows)).not.toContain(botToken);
  expect(JSON.stringify(rows)).not.toContain(Buffer.from(botToken).toString("hex"));
  expect(JSON.stringify(integration)).not.toContain(botToken);
  expect(api.log()).not.toContain("xoxb-");
});

test.each(both)(
  "over %s, calls about a token that nobody can open any more say to connect again",
  async (protocol) => {
    await connectTo();
    const { workspaceId } = workspace;
    await api.database.pool.query(
      "update slack_integrations set bot_token = set_byte(bot_token, 20, 255 - get_byte(bot_token, 20)) where workspace_id = $1",
      [workspaceId],
    );
    const calls: [Operation, JsonObject][] = [
      [method.listChannels, {}],
      [method.joinChannel, { id: channelId("GENERAL") }],
      [method.test, {}],
      [method.update, { slackChannelId: channelId("GENERAL") }],
    ];
    for (const [operation, request] of calls) {
      const { reason, message } = await call(operation, request, protocol);
      expect([operation.name, reason]).toEqual([operation.name, "INTEGRATION_NOT_ACTIVE"]);
      expect(message).toContain("SECRET of this service has changed. Connect Slack again.");
    }
    await connectTo();
    expect((await call(method.listChannels, {}, protocol)).reason).toBe("OK");
  },
);

test("more channels than a page of Slack's are all listed", async () => {
  await connect();
  team().channels = Array.from({ length: 2_345 }, (_, index) => ({
    id: `C${String(index).padStart(5, "0")}`,
    name: `channel-${String(2_344 - index).padStart(5, "0")}`,
    isMember: index === 7,
    isPrivate: false,
    isArchived: false,
  }));
  const { body } = await call(method.listChannels);
  const names = body.channels.map((channel: { name: string }) => channel.name);
  expect(names).toHaveLength(2_345);
  expect([names[0], names.at(-1)]).toEqual(["channel-00000", "channel-02344"]);
  expect(body.channels.filter((channel: { isMember: boolean }) => channel.isMember)).toHaveLength(1);
});

test.each([
  ["an HTML page", { html: 200 }],
  ["an HTML page with status 503", { html: 503 }],
  ["half an answer", "cut"],
  ["a closed connection", "closed"],
  ["no answer", "never"],
  ["an endless answer", "huge"],
  ["null", "null"],
  ["a fault of Slack's", { limitedSeconds: undefined }],
] as const)(
  "%s instead of channels is told as one that may pass, and nothing is disconnected",
  async (_, answer) => {
    await connectTo();
    const state = await stateFor();
    const on = answer === "never" ? hasty : api;
    slack.answerNext("conversations.list", answer);
    const reply = await on.rest(workspace.token)("GET", "/v1/slack-integrations/channels");
    expect([reply.status, reply.json.error.codeType]).toEqual([503, "UNAVAILABLE"]);
    expect(reply.json.error.message).toBe("Slack cannot be asked at the moment: try again later");
    slack.answerNext("chat.postMessage", answer);
    expect((await call(method.test, {}, "rest", on)).body).toEqual({ success: false });
    expect(await current()).toMatchObject({ status: "SLACK_INTEGRATION_STATUS_ACTIVE", failureCount: "1" });
    slack.answerNext("conversations.info", answer);
    const change = { slackChannelId: channelId("OWNERS") };
    expect((await call(method.update, change, "rest", on)).reason).toBe("UNAVAILABLE");
    slack.answerNext("oauth.v2.access", answer);
    const completion = { code: newCode(), state };
    expect((await call(method.completeOAuth, completion, "rest", on)).reason).toBe("UNAVAILABLE");
    expect(await current()).toMatchObject({ slackChannelId: channelId("GENERAL") });
    expect([...api.faults, ...hasty.faults]).toEqual([]);
  },
);

test("when Slack limits its calls, the caller is told how long to wait", async () => {
  await connect();
  slack.answerNext("conversations.list", { limitedSeconds: 42 });
  const { status, headers } = await workspace.rest("GET", "/v1/slack-integrations/channels");
  expect([status, headers["retry-after"]]).toEqual([503, "42"]);
});

test.each([
  ["token_revoked", "The bot's token was revoked at Slack. Connect Slack again."],
  ["account_inactive", "The app was removed from the Slack team. Connect Slack again."],
] as const)(
  "once Slack answers %s the integration is disconnected, until it is connected again",
  async (refusal, sentence) => {
    await connectTo();
    team().refusal = refusal;
    expect((await call(method.listChannels)).reason).toBe("INTEGRATION_NOT_ACTIVE");
    expect(await current()).toMatchObject({
      status: "SLACK_INTEGRATION_STATUS_DISCONNECTED",
      lastError: sentence,
    });
    expect(await subscriber()).toMatchObject({ status: "DISABLED" });
    expect((await call(method.test)).body).toEqual({ success: false });
    const again = [{ status: "SLACK_INTEGRATION_STATUS_ACTIVE" }, { slackChannelId: channelId("OWNERS") }];
    for (const change of again)
      expect((await call(method.update, change)).reason).toBe("INTEGRATION_NOT_ACTIVE");
    expect((await call(method.update, { triggers: ["KIND_EXIT"] })).reason).toBe("OK");
    expect(await current()).toMatchObject({ status: "SLACK_INTEGRATION_STATUS_DISCONNECTED" });
    expect(await connect()).toMatchObject({ status: "SLACK_INTEGRATION_STATUS_ACTIVE", lastError: "" });
    expect((await call(method.listChannels)).reason).toBe("OK");
  },
);

test("a filter on a link stays when the link is deleted, and can be sent back", async () => {
  await connectTo();
  const linkId = (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json.link
    .id;
  await call(method.update, { linkId });
  await workspace.rest("DELETE", `/v1/links/${linkId}`);
  expect(await current()).toMatchObject({ linkId });
  expect((await call(method.update, { linkId, triggers: ["KIND_EXIT"] })).reason).toBe("OK");
});

test("a key makes a completion happen once, and its answer is given again", async () => {
  const request = { code: newCode(), state: await stateFor() };
  const key = { "idempotency-key": randomUUID() };
  const path = "/v1/slack-integrations/oauth/complete";
  const first = await workspace.rest("POST", path, request, key);
  const second = await workspace.rest("POST", path, request, key);
  expect([first.status, second.status, second.headers["idempotent-replayed"]]).toEqual([200, 200, "true"]);
  expect(second.json).toEqual(first.json);
});

test("a sandbox is connected on its own", async () => {
  await connectTo();
  const sandbox = await api.newSandbox(workspace);
  expect((await sandbox.rest("GET", "/v1/slack-integrations")).json.slackIntegration).toBeUndefined();
  const { json } = await sandbox.rest("GET", "/v1/slack-integrations/oauth-url");
  const state = new URL(json.oauthUrl).searchParams.get("state");
  const made = await sandbox.rest("POST", "/v1/slack-integrations/oauth/complete", {
    code: newCode(),
    state,
  });
  expect([made.status, made.json.slackIntegration.workspaceId]).toEqual([200, sandbox.workspaceId]);
});

test("without an app of the operator's nobody connects, and the rest works on", async () => {
  const config = { apiUrl: slack.apiUrl, app: undefined };
  const bare = await startApi({
    database: api.database,
    clock,
    deps: { slack: createSlack({ config, returnUrl: "" }) },
  });
  await connectTo();
  const state = await stateFor();
  const refused = [
    await call(method.getOAuthURL, {}, "rest", bare),
    await call(method.completeOAuth, { code: newCode(), state }, "rest", bare),
  ];
  const message =
    "this service has no app at Slack: its operator sets SLACK_CLIENT_ID and SLACK_CLIENT_SECRET";
  for (const answer of refused) expect(answer).toMatchObject({ reason: "FAILED_PRECONDITION", message });
  expect((await call(method.test, {}, "rest", bare)).body).toEqual({ success: true });
});

test("an app that Slack does not know is the operator's to mend", async () => {
  slack.answerNext("oauth.v2.access", { error: "bad_client_secret" });
  const answer = await call(method.completeOAuth, { code: newCode(), state: await stateFor() });
  expect(answer).toMatchObject({
    reason: "FAILED_PRECONDITION",
    message: expect.stringContaining("SLACK_CLIENT_SECRET"),
  });
});
