import fc from "fast-check";
import { expect, test } from "vitest";
import { blockFaults, controlsIn, shownText, textsOf } from "../../../test/support/slack/block-kit.ts";
import { stepMessage, testMessage } from "./messages.ts";

const completedAt = "2026-03-01T12:30:15.250Z";
const date = "date^1772368215^{date_short_pretty} {time}|2026-03-01 12:30 UTC";

interface Told {
  readonly action?: string;
  readonly stepData?: object;
  readonly link?: object;
  readonly visitor?: object;
  readonly device?: object;
  readonly event?: object;
}

function bodyOf({ action = "FORM_SUBMIT", stepData = {}, link, visitor, device, event }: Told): string {
  return JSON.stringify({
    type: "workflow_step.completed",
    timestamp: "2026-03-01T12:30:16Z",
    data: {
      event: { action: "ACTION_SCAN", visitType: "VISIT_TYPE_FIRST", ...event },
      trace: { stepData, completedAt },
      step: { id: "1", kind: "KIND_INTERACTION", eventAction: `EVENT_ACTION_${action}` },
      link: { name: "Spring menu", shortlink: "abcd", entrypoint: "https://go.example.com/abcd", ...link },
      visitor: visitor ?? null,
      device: device ?? null,
      lbid: "lbid",
    },
  });
}

function form(...answers: readonly (readonly [label: string, value: string])[]) {
  return { form: { fields: answers.map(([label, value], index) => ({ key: `key${index}`, label, value })) } };
}

/** The message as people read it, one line for each text. */
function shown(body: string): string[] {
  return textsOf(stepMessage(body)).slice(1).map(shownText);
}

test("a submitted form is shown with its link, its answers and where it came from", () => {
  const body = bodyOf({
    stepData: form(["Name", "Ada Lovelace"], ["Guests", "3"], ["Wishes", ""]),
    visitor: { firstName: "Ada", lastName: "Lovelace", email: "ada@example.com" },
    device: {
      deviceName: "iPhone",
      platformName: "iOS",
      browserName: "Safari",
      city: "Berlin",
      country: "DE",
    },
    event: { visitType: "VISIT_TYPE_RETURNING" },
  });
  const { text, blocks } = stepMessage(body);
  expect(blocks).toEqual([
    {
      type: "section",
      text: {
        type: "mrkdwn",
        verbatim: true,
        text: "*Form submitted*: <https://go.example.com/abcd|Spring menu>",
      },
    },
    {
      type: "section",
      fields: [
        { type: "mrkdwn", verbatim: true, text: "*Name*\nAda Lovelace" },
        { type: "mrkdwn", verbatim: true, text: "*Guests*\n3" },
        { type: "mrkdwn", verbatim: true, text: "*Visitor*\nAda Lovelace, ada@example.com" },
      ],
    },
    {
      type: "context",
      elements: [
        {
          type: "mrkdwn",
          verbatim: true,
          text: `returning visitor · iPhone, iOS, Safari · Berlin, DE · <!${date}>`,
        },
      ],
    },
  ]);
  expect(text).toBe(
    [
      "Form submitted: Spring menu",
      "Name: Ada Lovelace",
      "Guests: 3",
      "Visitor: Ada Lovelace, ada@example.com",
      "returning visitor · iPhone, iOS, Safari · Berlin, DE",
    ].join("\n"),
  );
  expect(blockFaults(blocks)).toEqual([]);
});

test.each([
  ["LINK_VISIT", {}, {}, "*QR code scanned*: Spring menu"],
  ["LINK_VISIT", {}, { event: { action: "ACTION_CLICK" } }, "*Link followed*: Spring menu"],
  ["FORM_SUBMIT", { form: { skipped: true, fields: [] } }, {}, "*Form skipped*: Spring menu"],
  ["MULTI_LINK", { multiLink: { selectedButton: { label: "Book" } } }, {}, "*Choice*\nBook"],
  [
    "CLIENT_REDIRECT",
    { redirect: { destination: "https://a.example/" } },
    {},
    "*Destination*\nhttps://a.example/",
  ],
  ["SOMETHING_NEW", {}, {}, "*Step completed*: Spring menu"],
  ["toString", {}, {}, "*Step completed*: Spring menu"],
  ["THANK_YOU_PAGE", {}, { link: { name: "" } }, "*Thank-you page shown*: abcd"],
])("the step %s is told as what the visitor did (%j, %j)", (action, stepData, more, line) => {
  expect(shown(bodyOf({ action, stepData, ...more }))).toContain(line);
});

const hostile = [
  "<!channel> <!here> <!everyone> <@U123> <#C123> <!subteam^S1>",
  "<https://evil.example|your bank>",
  "</context>&lt;!channel&gt; &amp;lt;",
  "https://evil.example @channel @here #general",
  "*bold*\n> quote\r\n```code```\u2028line",
  "\u202eetiled\u202c \u2066x\u2069 \u0000\u0007",
  "|>|<|",
  "\ud800 lone",
  "&".repeat(5_000),
  "<".repeat(5_000),
  "😀".repeat(3_000),
  "",
];

test.each(hostile.map((typed, index) => [index, typed.slice(0, 40), typed] as const))(
  "what somebody typed is shown as it is and controls nothing: %i, %j",
  (_, __, typed) => {
    const message = stepMessage(
      bodyOf({
        stepData: form([typed, typed]),
        link: { name: typed },
        visitor: { firstName: typed, email: typed, phone: typed },
        device: { deviceName: typed, city: typed },
      }),
    );
    expect(blockFaults(message.blocks)).toEqual([]);
    for (const text of textsOf(message)) {
      for (const control of controlsIn(text))
        expect(control.startsWith("https://go.example.com/abcd|") || control === `!${date}`).toBe(true);
      expect(text).not.toMatch(/[^\n\P{Cc}]|[\u2028\u202e\u2066]/u);
      expect(text.replaceAll(/&(amp|lt|gt);/g, "")).not.toContain("&");
      expect(text.length).toBeLessThan(40_000);
    }
    for (const block of textsOf(message).slice(1)) expect(block.split("\n").length).toBeLessThan(3);
  },
);

test("whatever texts and shapes a message has, Slack takes its blocks and they hold no foreign control", () => {
  const texts = fc.oneof(fc.string({ unit: "binary", maxLength: 600 }), fc.constantFrom(...hostile));
  const shapes = fc.record({
    stepData: fc.oneof(
      fc.array(fc.tuple(texts, texts), { maxLength: 60 }).map((answers) => form(...answers)),
      fc.object({ maxDepth: 3 }),
    ),
    link: fc.record({ name: texts, shortlink: texts, entrypoint: fc.oneof(texts, fc.webUrl()) }),
    visitor: fc.record({ firstName: texts, email: texts }),
    device: fc.record({ city: texts, browserName: texts }),
  });
  fc.assert(
    fc.property(shapes, (told) => {
      const message = stepMessage(bodyOf(told));
      expect(blockFaults(message.blocks)).toEqual([]);
      const controls = textsOf(message).flatMap(controlsIn);
      expect(controls.length).toBeLessThan(3);
      for (const control of controls) expect(control).toMatch(/^(!date\^|https?:\/\/)/);
      expect(message.text).not.toBe("");
    }),
    { numRuns: 200, seed: 7 },
  );
});

test("of many answers ten are shown, and the number of the others", () => {
  const answers = Array.from({ length: 30 }, (_, index) => [`Question ${index}`, `answer ${index}`] as const);
  const lines = shown(bodyOf({ stepData: form(...answers) }));
  expect(lines.filter((line) => line.includes("Question"))).toHaveLength(10);
  expect(lines.at(-1)).toMatch(/^20 more · /);
});

test("the test message has what every message needs", () => {
  expect(blockFaults(testMessage().blocks)).toEqual([]);
  expect(testMessage().text).toContain("connected");
});
