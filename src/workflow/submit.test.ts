import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { EventTraceDataSchema } from "../../gen/signpost/v1/event_trace_pb.js";
import {
  entryStep,
  knownAttributes,
  planOf,
  redirectStep,
  type SeenBy,
  storedStep,
  visitOf,
} from "../../test/support/workflow.ts";
import type { StepAction } from "../model/steps/kinds.ts";
import type { PlanRow } from "../model/workflow/plan.ts";
import type { StoredStep } from "../model/workflow/workflow.ts";
import { decide } from "./decide.ts";
import { submit } from "./submit.ts";
import type { TraceData } from "./walk-result.ts";

const at = new Date("2026-08-01T12:00:00Z");
const deps = { isPassword: (_: unknown, attempt: string) => attempt === "secret" };

interface Made {
  readonly payload?: object;
  readonly capture?: object;
  readonly row?: Partial<PlanRow>;
  readonly seen?: SeenBy;
}

/** A visit that came to a step of this kind: how the step opened, and what comes of answers. */
function arrive(action: StepAction, { payload = {}, capture, row, seen }: Made = {}) {
  const steps: StoredStep[] = [
    entryStep,
    storedStep("step", action, payload, capture),
    redirectStep("redirect"),
  ];
  const plan = planOf(steps, { "entry.next": "step", "step.next": "redirect" }, row);
  const visit = visitOf(seen);
  const walk = decide(plan, visit, at);
  const opened = walk.taken[1];
  if (opened === undefined) throw new Error("the step was not opened");
  return {
    end: walk.end,
    opened: { ...opened, data: checked(opened.data) },
    answer(fields: Record<string, string | string[]> = {}) {
      const answer = new Map(Object.entries(fields).map(([name, value]) => [name, [value].flat()]));
      const taken = submit(plan, visit, at, "step", answer, deps);
      return taken?.kind === "accepted" ? { ...taken, data: checked(taken.data) } : taken;
    },
  };
}

/** The data, when it is a trace of the contract to its last field. */
function checked(data: TraceData | undefined): TraceData | undefined {
  const stored: unknown = data === undefined ? undefined : JSON.parse(JSON.stringify(data));
  // biome-ignore lint/suspicious/noExplicitAny: what comes out of JSON is checked by the schema
  if (stored !== undefined) fromJson(EventTraceDataSchema, stored as any);
  return data;
}

describe("link visit and redirect complete when visited and sent; their data follow from the event", () => {
  test("entryAccess", () => {
    const plan = planOf([entryStep], {});
    expect(decide(plan, visitOf(), at).taken).toMatchObject([{ data: undefined, isCompleted: true }]);
  });

  test("redirect", () => {
    const payload = { destination: "https://example.com/" };
    expect(arrive("CLIENT_REDIRECT", { payload }).opened).toMatchObject({
      data: undefined,
      isCompleted: true,
    });
  });
});

describe("password completes when a post matches", () => {
  const payload = { title: "Members", description: "Only", password: "sealed" };

  test("it opens not validated, and knows no password", () => {
    const { opened, end } = arrive("PASSWORD_VERIFY", { payload });
    expect(end.kind).toBe("interaction");
    expect(opened).toMatchObject({
      isCompleted: false,
      data: { password: { title: "Members", description: "Only", validated: false } },
    });
    expect(JSON.stringify(opened.data)).not.toContain("sealed");
  });

  test("a right one is validated and goes on, and is kept nowhere", () => {
    const taken = arrive("PASSWORD_VERIFY", { payload }).answer({ password: "secret" });
    expect(taken).toMatchObject({
      kind: "accepted",
      branchId: "next",
      data: { password: { validated: true } },
      saved: [],
    });
    expect(JSON.stringify(taken)).not.toContain("secret");
  });

  test.each([{ password: "guess" }, { password: "" }, { password: "Secret" }, {}])(
    "%j is refused with 401",
    (given) => {
      const taken = arrive("PASSWORD_VERIFY", { payload }).answer(given);
      expect(taken).toEqual({ kind: "refused", status: 401, faults: new Map([["password", "PASSWORD"]]) });
    },
  );

  test("where none is set, nobody enters", () => {
    expect(arrive("PASSWORD_VERIFY").answer({ password: "secret" })).toMatchObject({ status: 401 });
  });
});

describe("form completes when submitted or skipped", () => {
  const field = (id: string, type: string, rest: object = {}) => {
    return { id, key: id, label: id, type: `FORM_FIELD_TYPE_${type}`, ...rest };
  };
  const payload = {
    formTitle: "You",
    formDescription: "Who?",
    formFields: [
      field("name", "TEXT", { order: 2, placeholder: "Ada", helpText: "First", defaultValue: "?" }),
      field("mail", "EMAIL", { key: "$email", required: true, order: 1 }),
    ],
    skipForm: true,
    autoSkipIfKnown: true,
  };

  test("it opens with its fields in their order and the default words", () => {
    const { opened, end } = arrive("FORM_SUBMIT", { payload });
    expect(end.kind).toBe("interaction");
    expect(opened.data).toEqual({
      form: {
        title: "You",
        description: "Who?",
        submitButtonText: "Submit",
        skipButtonText: "Skip for now",
        autoSkipIfKnown: true,
        action: "",
        skipped: false,
        skipMethod: "",
        fields: [
          {
            key: "$email",
            label: "mail",
            type: "EMAIL",
            required: true,
            order: 1,
            defaultValue: "",
            placeholder: "",
            helpText: "",
            value: "",
          },
          {
            key: "name",
            label: "name",
            type: "TEXT",
            required: false,
            order: 2,
            defaultValue: "?",
            placeholder: "Ada",
            helpText: "First",
            value: "",
          },
        ],
        submittedFields: 0,
        totalFields: 2,
      },
    });
  });

  test("submitted, answers stand in the trace and are saved under their keys, overwriting", () => {
    const taken = arrive("FORM_SUBMIT", { payload }).answer({
      "field-mail": " ada@example.com ",
      "field-name": "Ada",
      "field-other": "x",
    });
    expect(taken).toMatchObject({
      branchId: "next",
      data: {
        form: {
          action: "SUBMITTED",
          skipped: false,
          skipMethod: "",
          fields: [{ value: "ada@example.com" }, { value: "Ada" }],
          submittedFields: 2,
        },
      },
      saved: [
        { key: "$email", value: "ada@example.com", type: "STRING", setOnce: false },
        { key: "name", value: "Ada", type: "STRING", setOnce: false },
      ],
    });
  });

  test("what was left empty is no answer, and overwrites nothing", () => {
    const taken = arrive("FORM_SUBMIT", { payload }).answer({
      "field-mail": "ada@example.com",
      "field-name": "  ",
    });
    expect(taken).toMatchObject({ data: { form: { submittedFields: 1 } }, saved: [{ key: "$email" }] });
  });

  test("skipped by the button, it saves nothing, whatever was entered", () => {
    const taken = arrive("FORM_SUBMIT", { payload }).answer({ skip: "1", "field-name": "Lovelace" });
    expect(taken).toMatchObject({
      branchId: "next",
      data: { form: { action: "SKIPPED", skipped: true, skipMethod: "BUTTON", submittedFields: 0 } },
      saved: [],
    });
    expect(JSON.stringify(taken)).not.toContain("Lovelace");
    expect(
      arrive("FORM_SUBMIT", { payload: { ...payload, skipForm: false } }).answer({ skip: "1" }),
    ).toMatchObject({ kind: "refused", status: 422 });
  });

  test.each<[string, object, Record<string, string> | undefined, boolean]>([
    ["every required key is known", payload, { $email: "a@b.example" }, true],
    ["a required key is missing", payload, { name: "Ada" }, false],
    ["a required key is empty", payload, { $email: "" }, false],
    ["nobody is known", payload, undefined, false],
    [
      "no field is required and every key is known",
      { autoSkipIfKnown: true, formFields: [field("a", "TEXT"), field("b", "TEXT")] },
      { a: "1", b: "2" },
      true,
    ],
    [
      "no field is required and one key is missing",
      { autoSkipIfKnown: true, formFields: [field("a", "TEXT"), field("b", "TEXT")] },
      { a: "1" },
      false,
    ],
    ["it is not asked for", { ...payload, autoSkipIfKnown: false }, { $email: "a@b.example" }, false],
  ])("skips itself when it is set to and %s", (_, made, known, skips) => {
    const attributes = known && knownAttributes(known);
    const { opened } = arrive("FORM_SUBMIT", { payload: made, seen: { attributes } });
    expect(opened.isCompleted).toBe(skips);
    expect(opened.data).toMatchObject({
      form: skips ? { action: "SKIPPED", skipped: true, skipMethod: "AUTO" } : { action: "", skipMethod: "" },
    });
  });

  test("at level NONE answers are neither kept in the trace nor saved", () => {
    const taken = arrive("FORM_SUBMIT", { payload, seen: { dataCollection: "NONE" } }).answer({
      "field-mail": "ada@example.com",
    });
    expect(taken).toMatchObject({ data: { form: { action: "SUBMITTED", submittedFields: 1 } }, saved: [] });
    expect(JSON.stringify(taken)).not.toContain("ada@");
  });

  test.each(["BOT", "AGENT"] as const)("answers of a %s are not saved", (deviceActor) => {
    const taken = arrive("FORM_SUBMIT", { payload, seen: { device: { deviceActor } } }).answer({
      "field-mail": "ada@example.com",
    });
    expect(taken).toMatchObject({ kind: "accepted", saved: [] });
  });

  describe("answers are checked", () => {
    const options = [
      { label: "Red", value: "red" },
      { label: "Green", value: "green" },
      { label: "Blue", value: "" },
    ];
    const germany: SeenBy = { country: "DE" };

    /** The fault of an answer, or what is saved of it. */
    function answered(made: object, given: string | string[], seen: SeenBy = {}) {
      const taken = arrive("FORM_SUBMIT", { payload: { formFields: [made] }, seen }).answer({
        "field-f": given,
      });
      if (taken?.kind === "refused") return { fault: taken.faults.get("f"), status: taken.status };
      return taken?.saved[0];
    }

    test.each<[string, object, string | string[], string]>([
      ["required", { type: "TEXT", required: true }, " ", "REQUIRED"],
      ["required", { type: "CHECKBOX", required: true, options }, [], "REQUIRED"],
      ["a box to check", { type: "CHECKBOX", required: true }, [], "REQUIRED"],
      ["a box to check", { type: "CHECKBOX", required: true }, "false", "REQUIRED"],
      ["yes or no", { type: "CHECKBOX" }, "maybe", "OPTION"],
      ["one box", { type: "CHECKBOX" }, ["true", "true"], "OPTION"],
      ["who is no address", { type: "CHECKBOX", key: "$email" }, "true", "EMAIL"],
      ["e-mail syntax", { type: "EMAIL" }, "ada", "EMAIL"],
      ["e-mail syntax", { type: "EMAIL" }, "ada@exa mple.com", "EMAIL"],
      ["e-mail length", { type: "EMAIL" }, `${"a".repeat(250)}@b.example`, "EMAIL"],
      ["e-mail by the key", { type: "TEXT", key: "$email" }, "ada", "EMAIL"],
      ["phone", { type: "PHONE" }, "030 123456", "PHONE"],
      ["phone", { type: "PHONE" }, "+49", "PHONE"],
      ["phone", { type: "PHONE" }, "call me", "PHONE"],
      ["phone by the key", { type: "TEXT", key: "$phone" }, "1", "PHONE"],
      ["number", { type: "NUMBER" }, "ten", "NUMBER"],
      ["number", { type: "NUMBER" }, "Infinity", "NUMBER"],
      ["ISO date", { type: "DATE" }, "1.5.2026", "DATE"],
      ["ISO date", { type: "DATE" }, "2026-02-30", "DATE"],
      ["ISO date", { type: "DATE" }, "2026-02-03T10:00:00Z", "DATE"],
      ["option membership", { type: "RADIO", options }, "pink", "OPTION"],
      ["one option", { type: "RADIO", options }, ["red", "green"], "OPTION"],
      ["option membership", { type: "DROPDOWN", options }, "Red", "OPTION"],
      ["option membership", { type: "CHECKBOX", options }, ["red", "pink"], "OPTION"],
      ["RATING 1–5", { type: "RATING" }, "0", "RATING"],
      ["RATING 1–5", { type: "RATING" }, "6", "RATING"],
      ["RATING 1–5", { type: "RATING" }, "4.5", "RATING"],
      ["≤ 4 KB", { type: "TEXTAREA" }, "ä".repeat(2_049), "TOO_LONG"],
    ])("%s: %j refuses %j with 422 and %s", (_, { type, ...rest }: { type?: string }, given, fault) => {
      const made = field("f", type ?? "", rest);
      expect(answered(made, given)).toEqual({ fault, status: 422 });
    });

    test.each<[object, string | string[], { value: string; type: string }]>([
      [{ type: "CHECKBOX" }, "true", { value: "true", type: "BOOLEAN" }],
      [{ type: "CHECKBOX" }, [], { value: "false", type: "BOOLEAN" }],
      [{ type: "CHECKBOX" }, "false", { value: "false", type: "BOOLEAN" }],
      [{ type: "CHECKBOX", required: true }, "true", { value: "true", type: "BOOLEAN" }],
      [{ type: "TEXT" }, "  Ada\u0000 ", { value: "Ada", type: "STRING" }],
      [{ type: "TEXT" }, "e\u0301", { value: "\u00e9", type: "STRING" }],
      [{ type: "UNSPECIFIED" }, "text", { value: "text", type: "STRING" }],
      [{ type: "TEXTAREA" }, "a\r\nb", { value: "a\nb", type: "STRING" }],
      [{ type: "TEXTAREA" }, "ä".repeat(2_048), { value: "ä".repeat(2_048), type: "STRING" }],
      [{ type: "EMAIL" }, "Ada@Example.com", { value: "Ada@Example.com", type: "STRING" }],
      [{ type: "PHONE" }, "+49 (30) 123456", { value: "+4930123456", type: "STRING" }],
      [{ type: "PHONE" }, "030 / 12 34 56", { value: "+4930123456", type: "STRING" }],
      [{ type: "NUMBER" }, "-1.50", { value: "-1.50", type: "NUMBER" }],
      [{ type: "DATE" }, "2028-02-29", { value: "2028-02-29", type: "DATE" }],
      [{ type: "RATING" }, "5", { value: "5", type: "NUMBER" }],
      [{ type: "RADIO", options }, "green", { value: "green", type: "ENUM" }],
      [{ type: "DROPDOWN", options }, "Blue", { value: "Blue", type: "ENUM" }],
      [{ type: "CHECKBOX", options }, ["green", "red"], { value: "red, green", type: "ENUM" }],
    ])("%j takes %j", ({ type, ...rest }: { type?: string }, given, saved) => {
      expect(answered(field("f", type ?? "", rest), given, germany)).toMatchObject(saved);
    });

    test("a pattern is the page's alone", () => {
      expect(answered(field("f", "TEXT", { validationPattern: "[0-9]+" }), "abc")).toMatchObject({
        value: "abc",
      });
    });

    test("every fault is told, by the id of its field, and nothing is saved", () => {
      const formFields = [field("a", "NUMBER"), field("b", "TEXT"), field("c", "DATE", { required: true })];
      const taken = arrive("FORM_SUBMIT", { payload: { formFields } }).answer({
        "field-a": "x",
        "field-b": "y",
      });
      expect(taken).toEqual({
        kind: "refused",
        status: 422,
        faults: new Map([
          ["a", "NUMBER"],
          ["c", "REQUIRED"],
        ]),
      });
    });
  });
});

describe("message page completes when the button is pressed or the timer is over", () => {
  const button = { title: "Hi", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" };
  const timer = { title: "Hi", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_TIMER", timerSeconds: 5 };

  test.each([
    ["BUTTON", button, {}],
    ["TIMER", timer, { timer: "1" }],
  ])("%s", (navigationType, payload, given) => {
    const { opened, answer } = arrive("MESSAGE_PAGE", { payload });
    expect(opened.data).toEqual({ messagePage: { title: "Hi", navigationType, outcome: "" } });
    expect(answer(given)).toMatchObject({
      branchId: "next",
      data: { messagePage: { title: "Hi", navigationType, outcome: navigationType } },
    });
  });

  test("neither goes on in the other's way", () => {
    expect(arrive("MESSAGE_PAGE", { payload: button }).answer({ timer: "1" })).toMatchObject({ status: 422 });
    expect(arrive("MESSAGE_PAGE", { payload: timer }).answer({})).toMatchObject({ status: 422 });
  });
});

describe("multi-link completes when a button is pressed", () => {
  const payload = {
    title: "Choose",
    description: "One",
    buttons: [
      { id: "b", label: "Second", order: 2 },
      { id: "a", label: "First", order: 1 },
    ],
  };
  const availableButtons = [
    { id: "a", label: "First", order: 1 },
    { id: "b", label: "Second", order: 2 },
  ];

  test("multiLink.selectedButton", () => {
    const { opened, answer } = arrive("MULTI_LINK", { payload });
    const shown = { title: "Choose", description: "One", availableButtons };
    expect(opened.data).toEqual({ multiLink: shown });
    expect(answer({ button: "b" })).toMatchObject({ branchId: "b" });
    expect(answer({ button: "b" })).toHaveProperty("data", {
      multiLink: { ...shown, selectedButton: { id: "b", label: "Second", order: 2 } },
    });
  });

  test("a button that is not there is refused", () => {
    expect(arrive("MULTI_LINK", { payload }).answer({ button: "c" })).toMatchObject({ status: 422 });
    expect(arrive("MULTI_LINK", { payload }).answer()).toMatchObject({ status: 422 });
  });
});

describe("social links page completes when shown; a press adds selectedLink to the same trace", () => {
  const payload = {
    title: "Follow",
    displayStyle: "SOCIAL_LINKS_DISPLAY_STYLE_COMPACT",
    links: [
      { id: "i", platform: "instagram", url: "https://instagram.com/ada?x=1" },
      { id: "w", platform: "", url: "https://ädä.example/" },
      { id: "none", platform: "tiktok", url: "" },
    ],
  };
  const links = [
    { id: "i", platform: "instagram", url: "https://instagram.com/ada?x=1", order: 0 },
    { id: "w", platform: "website", url: "https://ädä.example/", order: 1 },
  ];

  test("shown", () => {
    const { opened, end } = arrive("SOCIAL_LINKS_PAGE", { payload });
    expect(end.kind).toBe("exit-page");
    expect(opened).toMatchObject({ isCompleted: true });
    expect(opened.data).toEqual({
      socialLinks: { title: "Follow", description: "", displayStyle: "COMPACT", links },
    });
  });

  test("pressed", () => {
    const taken = arrive("SOCIAL_LINKS_PAGE", { payload }).answer({ link: "w" });
    expect(taken).toMatchObject({
      branchId: "",
      to: expect.stringMatching(/^https:\/\/xn--[a-z0-9-]+\.example\/$/),
      data: { socialLinks: { selectedLink: links[1], links } },
    });
    expect(arrive("SOCIAL_LINKS_PAGE", { payload }).answer({ link: "none" })).toMatchObject({ status: 422 });
  });

  test("the style is DETAILED unless set", () => {
    const { opened } = arrive("SOCIAL_LINKS_PAGE", { payload: {} });
    expect(opened.data).toMatchObject({ socialLinks: { displayStyle: "DETAILED", links: [] } });
  });
});

describe("contact card and thank-you page complete when shown", () => {
  test("contactCard", () => {
    const payload = {
      firstName: "Ada",
      phone: "+4930123456",
      phoneIsWhatsapp: true,
      socialLinks: [{ url: "https://a.example" }],
    };
    const { opened, end } = arrive("CONTACT_CARD", { payload });
    expect(end.kind).toBe("exit-page");
    expect(opened).toMatchObject({
      isCompleted: true,
      data: {
        contactCard: { card: { firstName: "Ada", lastName: "", phone: "+4930123456", buttonLabel: "" } },
      },
    });
  });

  test("thankYouPage", () => {
    const { opened, end, answer } = arrive("THANK_YOU_PAGE", {
      payload: { title: "Thanks", description: "Bye" },
    });
    expect(end.kind).toBe("exit-page");
    expect(opened).toMatchObject({ isCompleted: true, data: { thankYouPage: { title: "Thanks" } } });
    expect(answer()).toBeUndefined();
  });
});

describe("attribute capture", () => {
  const capture = (writes: Record<string, string>, more: object = {}) => ({
    enabled: true,
    writes: Object.entries(writes).map(([key, value]) => ({ key, value, ...more })),
  });
  const all = capture({ stage: "done", link: "{{link.name}}", when: "{{now}}" });
  const completed = { stage: "done", link: "Menu", when: at.toISOString() };
  const buttons = [{ id: "a", label: "Blue" }];
  const savedOf = (saved: readonly { key: string; value: string }[] = []) =>
    Object.fromEntries(saved.map(({ key, value }) => [key, value]));

  /** What is saved when the step opens, and when it is answered. */
  function saves(action: StepAction, made: Made, given: Record<string, string> = {}) {
    const { opened, answer } = arrive(action, made);
    const taken = answer(given);
    return {
      opening: savedOf(opened.saved),
      answering: taken?.kind === "accepted" ? savedOf(taken.saved) : undefined,
    };
  }

  const button = { navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON", buttonLabel: "Go" };
  const timer = { navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_TIMER", timerSeconds: 1 };
  const social = { links: [{ id: "i", platform: "instagram", url: "https://i.example" }] };

  test.each<[string, StepAction, object, Record<string, string>, object, object | undefined]>([
    ["at the tap of a multi-link button", "MULTI_LINK", { buttons }, { button: "a" }, {}, completed],
    ["when a message page's button is pressed", "MESSAGE_PAGE", button, {}, {}, completed],
    ["when its time is over", "MESSAGE_PAGE", timer, { timer: "1" }, {}, completed],
    [
      "when social links are shown, not at a press",
      "SOCIAL_LINKS_PAGE",
      social,
      { link: "i" },
      completed,
      {},
    ],
    ["when a card is shown, not when it is saved", "CONTACT_CARD", { firstName: "Ada" }, {}, completed, {}],
    ["when a password matched", "PASSWORD_VERIFY", { password: "x" }, { password: "secret" }, {}, completed],
    ["when a form was submitted", "FORM_SUBMIT", {}, {}, {}, completed],
    [
      "when a redirect was sent",
      "CLIENT_REDIRECT",
      { destination: "https://a.example" },
      {},
      completed,
      undefined,
    ],
    ["when a page was shown", "THANK_YOU_PAGE", { title: "Thanks" }, {}, completed, undefined],
    ["nothing: wrong password", "PASSWORD_VERIFY", { password: "x" }, { password: "guess" }, {}, undefined],
    ["nothing: form skipped by button", "FORM_SUBMIT", { skipForm: true }, { skip: "1" }, {}, {}],
  ])("saves %s", (_, action, payload, given, opening, answering) => {
    expect(saves(action, { payload, capture: all }, given)).toEqual({ opening, answering });
  });

  test("nothing: form skipped by itself", () => {
    const payload = { autoSkipIfKnown: true, formFields: [{ id: "f", key: "k" }] };
    const seen = { attributes: knownAttributes({ k: "v" }) };
    expect(arrive("FORM_SUBMIT", { payload, capture: all, seen }).opened.saved).toEqual([]);
  });

  test.each<[string, SeenBy]>([
    ["a BOT's visit", { device: { deviceActor: "BOT" } }],
    ["an AGENT's visit", { device: { deviceActor: "AGENT" } }],
    ["level NONE", { dataCollection: "NONE" }],
  ])("nothing: %s", (_, seen) => {
    const made = { payload: { buttons }, capture: all, seen };
    expect(saves("MULTI_LINK", made, { button: "a" }).answering).toEqual({});
    expect(saves("THANK_YOU_PAGE", { capture: all, seen }).opening).toEqual({});
  });

  test("nothing: writes that are kept but not enabled", () => {
    expect(saves("THANK_YOU_PAGE", { capture: { ...all, enabled: false } }).opening).toEqual({});
  });

  test("the entry saves when somebody comes, also when nothing is there to serve", () => {
    const plan = planOf([storedStep("entry", "LINK_VISIT", {}, capture({ came: "yes" }))], {});
    expect(decide(plan, visitOf(), at)).toMatchObject({
      taken: [{ saved: [{ key: "came", value: "yes" }] }],
      end: { kind: "fallback" },
    });
  });

  test.each([
    ["text", "text"],
    ["{{now}}", "2026-08-01T12:00:00.000Z"],
    ["{{link.name}}", "Menu"],
    ["{{link.metadata.campaign}}", "spring"],
    ["{{link.metadata.two words}}", "too"],
    ["{{choice.label}}", "Blue"],
    ["{{choice.id}}", "a"],
    ["<{{link.name}}/{{choice.id}}>{{link.metadata.campaign}}", "<Menu/a>spring"],
    ["{{link.metadata.none}}", undefined],
    ["{{link.metadata.constructor}}", undefined],
    ["", undefined],
    ["a }} b {{", "a }} b {{"],
    ["{{link.name}} {{now", "Menu {{now"],
  ])("%j comes out as %j", (value, saved) => {
    const link = {
      name: "Menu",
      shortlink: "menu",
      tags: [],
      metadata: { campaign: "spring", "two words": "too" },
      purpose: "",
    };
    const made = { payload: { buttons }, capture: capture({ k: value }), row: { link } };
    expect(saves("MULTI_LINK", made, { button: "a" }).answering?.k).toBe(saved);
  });

  test("what comes out is cut at 4 KB, at the end of a character", () => {
    const metadata = { ring: "💍".repeat(250) };
    const link = { name: "Menu", shortlink: "menu", tags: [], metadata, purpose: "" };
    const cut = (value: string) =>
      arrive("THANK_YOU_PAGE", { capture: capture({ k: value }), row: { link } }).opened.saved[0]?.value;
    expect(cut("x".repeat(4_097))).toBe("x".repeat(4_096));
    expect(cut(`x${"{{link.metadata.ring}}".repeat(370)}`)).toBe(`x${"💍".repeat(1_023)}`);
    expect(cut(`${"ä".repeat(2_047)}x💍`)).toBe(`${"ä".repeat(2_047)}x`);
  });

  test("saves with its type and mode, after a form's own answers", () => {
    const payload = { formFields: [{ id: "f", key: "k" }] };
    const type = "VISITOR_ATTRIBUTE_TYPE_ENUM";
    const writes = capture({ stage: "done" }, { type, mode: "ATTRIBUTE_WRITE_MODE_SET_ONCE" });
    const taken = arrive("FORM_SUBMIT", { payload, capture: writes }).answer({ "field-f": "v" });
    expect(taken).toMatchObject({
      saved: [
        { key: "k", value: "v", type: "STRING", setOnce: false },
        { key: "stage", value: "done", type: "ENUM", setOnce: true },
      ],
      captured: [{ key: "stage" }],
    });
  });
});

test("steps without an answer, and those that are gone, take none", () => {
  const plan = planOf([entryStep, redirectStep("redirect")], { "entry.next": "redirect" });
  for (const stepId of ["entry", "redirect", "gone"])
    expect(submit(plan, visitOf(), at, stepId, new Map(), deps)).toBeUndefined();
});
