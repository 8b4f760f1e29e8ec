import { type DescEnum, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  VisitorAttributeFilterOperatorSchema,
  VisitorAttributeTypeSchema,
} from "../../../gen/signpost/v1/visitor_pb.js";
import {
  DeviceActorConditionValueSchema,
  DeviceBrandConditionValueSchema,
  DeviceBrowserConditionValueSchema,
  DevicePlatformConditionValueSchema,
  DeviceTypeConditionValueSchema,
} from "../../../gen/signpost/v1/workflow_step_payload_device_condition_pb.js";
import { FormFieldTypeSchema } from "../../../gen/signpost/v1/workflow_step_payload_page_pb.js";
import { WorkflowStepPayloadSchema } from "../../../gen/signpost/v1/workflow_step_payload_pb.js";
import {
  AttributeCaptureSchema,
  AttributeWriteModeSchema,
} from "../../../gen/signpost/v1/workflow_step_pb.js";
import { type StepAction, stepActions } from "../steps/kinds.ts";
import { readAttributeCapture } from "./attribute-capture.ts";
import { readPayload } from "./read-payload.ts";

/** Reads a payload after turning it into the contract's message, so that both have to know every field by its name. */
function read<Action extends StepAction>(action: Action, payload: JsonObject) {
  const variant = stepActions[action].payload;
  const message = fromJson(WorkflowStepPayloadSchema, { [variant]: payload });
  const stored = toJson(WorkflowStepPayloadSchema, message) as Record<string, unknown>; // a message with fields
  return readPayload(action, stored[variant]);
}

const namesOf = ({ values }: DescEnum) => values.map(({ name }) => name);

describe("every page's payload is read with all its fields", () => {
  test("PASSWORD_VERIFY", () => {
    const payload = { title: "t", description: "d", password: "sealed" };
    expect(read("PASSWORD_VERIFY", payload)).toEqual(payload);
  });

  test("FORM_SUBMIT, its fields in their order and every type of them", () => {
    const types = namesOf(FormFieldTypeSchema);
    const formFields = types.map((type, place) => ({
      id: type,
      key: `key ${place}`,
      label: "l",
      type,
      required: true,
      order: types.length - place,
      options: [{ label: "Red", value: "red" }, { label: "Green" }, { value: "blue" }],
      defaultValue: "v",
      placeholder: "p",
      helpText: "h",
      validationPattern: ".+",
    }));
    const words = { submitButtonText: "s", skipButtonText: "k" };
    const form = read("FORM_SUBMIT", {
      formTitle: "t",
      formDescription: "d",
      formFields,
      ...words,
      skipForm: true,
      autoSkipIfKnown: true,
    });
    expect(form).toMatchObject({
      title: "t",
      description: "d",
      ...words,
      skipForm: true,
      autoSkipIfKnown: true,
    });
    const expected = formFields.toReversed().map((field) => ({
      ...field,
      type: field.type.replace("FORM_FIELD_TYPE_", "").replace("UNSPECIFIED", "TEXT"),
      options: [
        { label: "Red", value: "red" },
        { label: "Green", value: "Green" },
        { label: "blue", value: "blue" },
      ],
    }));
    expect(form?.fields).toEqual(expected);
  });

  test("MESSAGE_PAGE", () => {
    const page = { title: "t", description: "d", buttonLabel: "b", timerSeconds: 300 };
    const navigationType = "MESSAGE_PAGE_NAVIGATION_TYPE_TIMER";
    expect(read("MESSAGE_PAGE", { ...page, navigationType })).toEqual({ ...page, navigationType: "TIMER" });
    expect(read("MESSAGE_PAGE", { ...page, navigationType, timerSeconds: 301 })).toBeUndefined();
  });

  test("MULTI_LINK", () => {
    const buttons = [
      { id: "a", label: "A", order: 3 },
      { id: "b", label: "B" },
    ];
    expect(read("MULTI_LINK", { title: "t", description: "d", buttons })).toEqual({
      title: "t",
      description: "d",
      buttons: [{ id: "b", label: "B", order: 1 }, buttons[0]],
    });
  });

  test("CLIENT_REDIRECT", () => {
    expect(
      read("CLIENT_REDIRECT", { destination: "https://a.example/?b", conversionTracking: true }),
    ).toMatchObject({
      destination: "https://a.example/?b",
      conversionTracking: true,
      target: { url: "https://a.example/?b", isWeb: true },
    });
  });

  test("THANK_YOU_PAGE", () => {
    expect(read("THANK_YOU_PAGE", { title: "t", description: "d" })).toEqual({
      title: "t",
      description: "d",
    });
  });

  test("CONTACT_CARD", () => {
    const card = {
      firstName: "f",
      lastName: "l",
      title: "t",
      organization: "o",
      email: "e@a.example",
      phone: "+4930123456",
      phoneIsWhatsapp: true,
      website: "https://w.example",
      streetAddress: "s",
      city: "c",
      state: "st",
      postalCode: "p",
      country: "co",
      socialLinks: [{ platform: "github", url: "https://g.example" }],
      buttonLabel: "b",
    };
    expect(read("CONTACT_CARD", card)).toEqual(card);
  });

  test("SOCIAL_LINKS_PAGE", () => {
    const links = [{ id: "i", platform: "Instagram", url: "https://i.example", order: 1 }];
    const displayStyle = "SOCIAL_LINKS_DISPLAY_STYLE_COMPACT";
    expect(read("SOCIAL_LINKS_PAGE", { title: "t", description: "d", displayStyle, links })).toEqual({
      title: "t",
      description: "d",
      displayStyle: "COMPACT",
      links: [{ id: "i", platform: "instagram", url: "https://i.example", order: 1 }],
    });
  });
});

describe("every condition's choices are read with the ids of their branches", () => {
  const named = (id: string) => ({ id, name: `Name ${id}` });

  test.each<[StepAction, DescEnum]>([
    ["DEVICE_TYPE_CONDITION", DeviceTypeConditionValueSchema],
    ["DEVICE_PLATFORM_CONDITION", DevicePlatformConditionValueSchema],
    ["DEVICE_BROWSER_CONDITION", DeviceBrowserConditionValueSchema],
    ["DEVICE_BRAND_CONDITION", DeviceBrandConditionValueSchema],
    ["DEVICE_ACTOR_CONDITION", DeviceActorConditionValueSchema],
  ])("%s, with every value bare and nobody for none", (action, { values }) => {
    const options = values.map(({ name }) => ({ ...named(name), value: name }));
    expect(read(action, { options })).toEqual({
      choices: values.map(({ name, number }) => ({
        ...named(name),
        branchId: name,
        value: number === 0 ? "" : name.replace(/^DEVICE_[A-Z]+_CONDITION_VALUE_/, ""),
      })),
    });
  });

  test("VISITOR_DATA_CONDITION, with every operator bare and none for UNSPECIFIED", () => {
    const options = namesOf(VisitorAttributeFilterOperatorSchema).map((operator) => ({
      id: operator,
      attributeKey: "k",
      operator,
      comparisonValue: "1",
    }));
    const operators = read("VISITOR_DATA_CONDITION", { options })?.choices.map(({ operator }) => operator);
    expect(operators).toEqual(
      options.map(({ id }) =>
        id.endsWith("UNSPECIFIED") ? undefined : id.replace("VISITOR_ATTRIBUTE_FILTER_OPERATOR_", ""),
      ),
    );
  });

  test.each<[StepAction, JsonObject, object]>([
    [
      "VISIT_TYPE_CONDITION",
      { options: [{ value: "VISIT_TYPE_RETURNING" }] },
      { branchId: "VISIT_TYPE_RETURNING", value: "RETURNING" },
    ],
    ["COUNTRY_CONDITION", { countries: [{ countryCode: "DE" }] }, { branchId: "DE", countryCode: "DE" }],
    [
      "DAY_OF_WEEK_CONDITION",
      { options: [{ ...named("a"), daysOfWeek: [0, 6] }] },
      { ...named("a"), branchId: "a", daysOfWeek: [0, 6] },
    ],
    [
      "TIME_OF_DAY_CONDITION",
      { ranges: [{ ...named("a"), startTime: "09:00", endTime: "17:30" }] },
      { ...named("a"), branchId: "a", startTime: "09:00", endTime: "17:30" },
    ],
    [
      "DAY_OF_MONTH_CONDITION",
      { options: [{ ...named("a"), dayOfMonth: -1 }] },
      { ...named("a"), branchId: "a", dayOfMonth: -1 },
    ],
    [
      "SPECIFIC_DATE_CONDITION",
      { options: [{ ...named("a"), year: 2026, month: 12, day: 24 }] },
      { ...named("a"), branchId: "a", year: 2026, month: 12, day: 24 },
    ],
  ])("%s", (action, payload, choice) => {
    expect(read(action, payload)).toEqual({ choices: [choice] });
  });
});

test("attribute capture is read with every type and mode, and nothing is captured unless it is enabled", () => {
  const types = namesOf(VisitorAttributeTypeSchema);
  const writes = types.flatMap((type) =>
    namesOf(AttributeWriteModeSchema).map((mode) => ({ key: `${type}.${mode}`, value: "v", type, mode })),
  );
  const storedWith = (enabled: boolean) =>
    toJson(AttributeCaptureSchema, fromJson(AttributeCaptureSchema, { enabled, writes }));
  expect(readAttributeCapture(storedWith(true))).toEqual(
    writes.map(({ key, type, mode }) => ({
      key,
      value: [{ kind: "text", text: "v" }],
      type: type.replace("VISITOR_ATTRIBUTE_TYPE_", "").replace("UNSPECIFIED", "STRING"),
      setOnce: mode.endsWith("SET_ONCE"),
    })),
  );
  expect(readAttributeCapture(storedWith(false))).toBeUndefined();
  const lacking = [{ key: "k" }, { value: "v" }, { key: "k", value: "{{never}}" }];
  for (const nothing of [null, undefined, {}, { enabled: true }, { enabled: true, writes: lacking }, "x"])
    expect(readAttributeCapture(nothing)).toBeUndefined();
});

test("a payload that is no object is broken, whatever the action", () => {
  // All keys of the record are actions: its type says so.
  for (const action of Object.keys(stepActions) as StepAction[])
    for (const stored of [null, undefined, 7, "text", []])
      expect(readPayload(action, stored)).toBeUndefined();
});
