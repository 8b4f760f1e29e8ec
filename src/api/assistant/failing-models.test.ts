import { expect, test } from "vitest";
import {
  beginStream,
  endStream,
  type Script,
  startModelServer,
  writeDelta,
} from "../../../test/support/assistant/model-server.ts";
import { middleOfMonth, tickingClock } from "../../../test/support/clock.ts";
import { startApi } from "../../../test/support/start-api.ts";
import { makers } from "../../../test/support/tenant-records.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";

const server = await startModelServer({ silenceMs: 3_000 });
const clock = tickingClock(middleOfMonth());
const plans = readPlanTable({}, true, []);
const entitlements = createEntitlements({ plans, now: clock.now });
const api = await startApi({ clock, deps: { model: server.model, plans, entitlements } });
const hastyServer = await startModelServer({ silenceMs: 500 });
const hastyApi = await startApi({
  ...{ clock, database: api.database },
  deps: { model: hastyServer.model, plans, entitlements },
});
const workspace = await api.newWorkspace();
const { rest, workspaceId } = workspace;
const contextType = "ASSISTANT_CONTEXT_TYPE_LINK";
const contextId = await makers.link(api, workspace);

async function send(message = "Hi", call = rest) {
  // The plan allows so many messages in a minute.
  clock.advance(60_000);
  return call("POST", "/v1/assistant/message", { contextType, contextId, message });
}

async function creditsUsed(): Promise<bigint> {
  const account = db().select("used").where("workspace_id", "=", workspaceId);
  return (await account.executeTakeFirstOrThrow()).used;
}

const db = () => api.db.selectFrom("credit_accounts");
const messages = async () =>
  (await rest("GET", `/v1/assistant/conversation?contextType=${contextType}&contextId=${contextId}`)).json
    .messages;

const failures: readonly (readonly [name: string, script: Script, words: RegExp])[] = [
  ["answers with nothing", () => ({ text: "" }), /makes sense/],
  [
    "answers 429",
    (_asked, res) => {
      res.writeHead(429, { "retry-after": "7" }).end("{}");
      return undefined;
    },
    /too much to do/,
  ],
  [
    "answers 500",
    (_asked, res) => {
      res.writeHead(500).end("no");
      return undefined;
    },
    /does not work/,
  ],
  [
    "answers with a page",
    (_asked, res) => {
      res.writeHead(200, { "content-type": "text/html" }).end("<html></html>");
      return undefined;
    },
    /makes sense/,
  ],
  [
    "answers with broken JSON",
    (_asked, res) => {
      beginStream(res);
      res.end("data: {broken\n\n");
      return undefined;
    },
    /makes sense/,
  ],
  [
    "breaks off",
    (_asked, res) => {
      beginStream(res);
      writeDelta(res, { content: "Well" });
      res.destroy();
      return undefined;
    },
    /makes sense|does not work/,
  ],
  [
    "redirects elsewhere",
    (_asked, res) => {
      res.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
      return undefined;
    },
    /does not work|makes sense/,
  ],
  ["uses tools and comes to no end", () => ({ calls: [["links_get", {}]] }), /makes sense/],
  [
    "calls a tool with endless arguments",
    () => ({ calls: [["links_update", { name: "x".repeat(20_000) }]] }),
    /makes sense/,
  ],
];

const silences: readonly (readonly [name: string, script: Script])[] = [
  ["says nothing", () => undefined],
  [
    "begins and then says nothing",
    (_asked, res) => {
      beginStream(res);
      writeDelta(res, { content: "Well" });
      return undefined;
    },
  ],
];

test.each(failures)(
  "a model that %s: 503 that says so, and nothing is stored or charged",
  (_name, script, words) => {
    server.play(script);
    return expectFailure(words);
  },
);

test.each(silences)(
  "a model that %s: 503 that says so, and nothing is stored or charged",
  (_name, script) => {
    hastyServer.play(script);
    return expectFailure(/too long/, hastyApi.rest(workspace.token));
  },
);

async function expectFailure(words: RegExp, call = rest): Promise<void> {
  const [before, used] = [await messages(), await creditsUsed()];
  const { status, json, headers } = await send("Hi", call);
  expect([status, json.error.codeType]).toEqual([503, "ASSISTANT_UNAVAILABLE"]);
  expect(json.error.message).toMatch(words);
  expect(Number(headers["retry-after"])).toBeGreaterThan(0);
  expect([await messages(), await creditsUsed()]).toEqual([before, used]);
}

test("a model that talks for ever is cut", async () => {
  server.play((_asked, res) => {
    beginStream(res);
    const talk = () => {
      for (let piece = 0; piece < 50; piece++) writeDelta(res, { content: "and so on ".repeat(10) });
      if (!res.destroyed) setImmediate(talk);
    };
    talk();
    return undefined;
  });
  const { status, json } = await send();
  expect([status, json.responseText.length]).toEqual([200, 16_002]);
  expect(json.responseText.endsWith("…")).toBe(true);
});

test("a model that calls tools it has not, or with what is no JSON, is told so and can mend it", async () => {
  const told: unknown[] = [];
  server.play(({ messages: asked }) => {
    const results = asked.filter(({ role }) => role === "tool");
    if (results.length === 0)
      return {
        calls: [
          ["workspaces_delete", {}],
          ["links_update", "{name: Winter"],
        ],
      };
    told.push(...results.map(({ content }) => content));
    return results.length === 2 ? { calls: [["links_update", { nam: "Winter" }]] } : { text: "I give up." };
  });
  const { json } = await send("Rename it");
  expect(json).toMatchObject({ responseText: "I give up.", appliedActions: [] });
  expect(told[0]).toMatch(/no such tool; use one of links_get/);
  expect(told[1]).toMatch(/no JSON object/);
  expect(told.at(-1)).toMatch(/INVALID_ARGUMENT: nam: is no field/);
});

test("a model that fails after a change: the caller learns of the change, and pays nothing", async () => {
  const used = await creditsUsed();
  server.play(({ messages: asked }, res) => {
    if (asked.at(-1)?.role !== "tool")
      return { text: "At once.", calls: [["links_update", { name: "Winter" }]] };
    beginStream(res);
    endStream(res, "stop");
    return undefined;
  });
  const { status, json } = await send("Call it Winter");
  expect([status, json.appliedActions, json.contextUpdated]).toEqual([200, ["links_update"], true]);
  expect(json.responseText).toBe("At once.\n\nThe assistant has stopped. It has changed: links_update.");
  expect(await creditsUsed()).toBe(used);
  expect((await rest("GET", `/v1/links/${contextId}`)).json.link.name).toBe("Winter");
});

test("what the model's server says reaches neither the answer nor the log", async () => {
  server.play((_asked, res) => {
    res.writeHead(400, { "content-type": "application/json" });
    res.end(JSON.stringify({ error: { message: "a-secret-of-the-server" } }));
    return undefined;
  });
  const { text } = await send("a-secret-of-the-caller");
  expect(text).not.toContain("a-secret");
  expect(api.log()).not.toContain("a-secret");
  expect(api.log()).toContain("the model's server answered 400");
});
