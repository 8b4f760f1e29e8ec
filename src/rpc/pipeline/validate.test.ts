import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { TextsSchema } from "../../../gen/signpost/testing/v1/handling_pb.js";
import { SpecimenSchema } from "../../../gen/signpost/testing/v1/specimen_pb.js";
import { ListEventsRequestSchema } from "../../../gen/signpost/v1/events_service_pb.js";
import {
  CreateLinkRequestSchema,
  GetLinkRequestSchema,
  type LinkSortField,
  ListLinksRequestSchema,
} from "../../../gen/signpost/v1/links_service_pb.js";
import { UpdatePageThemeRequestSchema } from "../../../gen/signpost/v1/page_themes_service_pb.js";
import { PublicCreateQrcodeDesignRequestSchema } from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { CreateWorkspaceTokenRequestSchema } from "../../../gen/signpost/v1/workspace_tokens_service_pb.js";
import { checkRequest } from "./validate.ts";

function checked(init: MessageInitShape<typeof TextsSchema>) {
  const texts = create(TextsSchema, init);
  const error = checkRequest(texts, TextsSchema);
  return { texts, fields: (error?.refusal.fields ?? []).map(({ field }) => field), error };
}

test("texts are trimmed, brought to NFC and get plain line ends, wherever they stand", () => {
  const { texts, error } = checked({
    text: " cafe\u0301\r\nbar\t\u00a0",
    list: [" a ", "b"],
    byKey: { " key ": " value " },
    textsByKey: { k: { text: " deep " } },
    child: { child: { text: " deeper " } },
    children: [{ text: " x " }],
    choice: { case: "chosenText", value: " chosen " },
  });
  expect(error).toBeUndefined();
  expect(texts).toMatchObject({
    text: "caf\u00e9\nbar",
    list: ["a", "b"],
    byKey: { key: "value" },
    textsByKey: { k: { text: "deep" } },
    child: { child: { text: "deeper" } },
    children: [{ text: "x" }],
    choice: { case: "chosenText", value: "chosen" },
  });
});

test("only the texts of a request's free-form objects are normalized", () => {
  const specimen = create(SpecimenSchema, {
    struct: {
      fields: " abc ",
      $email: "a@b.example",
      nested: { list: [" x ", 1, null, true] },
      " key ": "v",
    },
  });
  expect(checkRequest(specimen, SpecimenSchema)).toBeUndefined();
  expect(specimen.struct).toEqual({
    fields: "abc",
    $email: "a@b.example",
    nested: { list: ["x", 1, null, true] },
    key: "v",
  });
  const broken = create(SpecimenSchema, { struct: { nested: { list: ["fine", "bell\u0007"] } } });
  const fields = checkRequest(broken, SpecimenSchema)?.refusal.fields?.map(({ field }) => field);
  expect(fields).toEqual(["struct.nested.list[1]"]);
});

test("every text with a control character or a lone surrogate is named with its path", () => {
  const { fields } = checked({
    text: "a\u0000b",
    list: ["fine", "bell\u0007"],
    byKey: { "k\u001b": "v", "two words": "\u0085x\u0085y" },
    child: { children: [{ text: "fine" }, { text: "\u007fdel\u007f" }] },
    choice: { case: "chosenChild", value: { text: "half \ud800 pair" } },
  });
  expect(fields).toEqual([
    "text",
    "list[1]",
    'byKey["k\\u001b"]',
    'byKey["two words"]',
    "child.children[1].text",
    "chosenChild.text",
  ]);
});

test("a verbatim text is taken as sent", () => {
  const password = " cafe\u0301 \u0007 ";
  expect(checked({ password }).texts.password).toBe(password);
  expect(checked({ password: "a\u0000" }).fields).toEqual(["password"]);
});

test("a map key named like a prototype property stays a key", () => {
  const byKey = Object.fromEntries([["__proto__", " x "]]);
  const { texts } = checked({ byKey });
  expect(Object.entries(texts.byKey)).toEqual([["__proto__", "x"]]);
  expect(Object.getPrototypeOf(texts.byKey)).toBe(Object.prototype);
});

test("times outside of the calendar are refused", () => {
  const { fields } = checked({
    time: { seconds: 253_402_300_800n },
    delay: { seconds: 1n, nanos: -1 },
    child: { time: { nanos: -1 }, delay: { seconds: 315_576_000_001n } },
  });
  expect(fields).toEqual(["child.time", "child.delay", "time", "delay"]);
  expect(checked({ time: { seconds: -62_135_596_800n }, delay: { seconds: -1n, nanos: -5 } }).fields).toEqual(
    [],
  );
});

test("every broken rule is listed with the JSON path of its field and what to do", () => {
  const request = create(CreateLinkRequestSchema, {
    name: "x".repeat(256),
    purpose: "tab\u0000",
    tags: ["", ...Array.from({ length: 20 }, () => "ok")],
    metadata: { "": "a", long: "b".repeat(501) },
    id: "nope",
  });
  const error = checkRequest(request, CreateLinkRequestSchema);
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", reason: "INVALID_ARGUMENT" });
  expect(error?.refusal.fields).toEqual([
    {
      field: "purpose",
      description: "must not contain control characters other than line feed and tab; remove U+0000",
    },
    { field: "destination", description: "is required: give it a value" },
    { field: "name", description: "must have at most 255 characters" },
    { field: "tags", description: "must have at most 20 items" },
    { field: "tags[0]", description: "must have at least 1 character" },
    { field: 'metadata[""]', description: "every key must have at least 1 character" },
    { field: "metadata.long", description: "must have at most 500 characters" },
    { field: "id", description: "must be a UUID, such as 0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d" },
  ]);
});

test("values outside of a list, a range or an enum are refused with what is allowed", () => {
  // Our clients never send this number, but others can.
  const unknownField = 99 as LinkSortField;
  const request = create(ListLinksRequestSchema, { pageSize: -1n, include: ["foo"], sortBy: unknownField });
  expect(checkRequest(request, ListLinksRequestSchema)?.refusal.fields).toEqual([
    { field: "pageSize", description: "must be greater than or equal to 0" },
    {
      field: "include[0]",
      description: "must be one of: customDomain, qrcodeDesign, qrcodeSignedUrl, tags, pageTheme",
    },
    { field: "sortBy", description: "must be one of the values that the interface defines" },
  ]);
});

test("a rule over several fields is reported at the field it is named after", () => {
  const request = create(ListEventsRequestSchema, {
    startDate: timestampFromDate(new Date(2_000)),
    endDate: timestampFromDate(new Date(1_000)),
  });
  expect(checkRequest(request, ListEventsRequestSchema)?.refusal.fields).toEqual([
    { field: "startDate", description: "startDate must not be after endDate" },
  ]);
});

test("a missing choice is reported at its message, with the fields to choose from", () => {
  const request = create(UpdatePageThemeRequestSchema, {
    id: "0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d",
    badge: {},
  });
  expect(checkRequest(request, UpdatePageThemeRequestSchema)?.refusal.fields).toEqual([
    { field: "badge", description: "needs one of: id, delete" },
  ]);
});

test("a request whose only faults are malformed ids is INVALID_ID", () => {
  const reason = (id: string, include: string[]) =>
    checkRequest(create(GetLinkRequestSchema, { id, include }), GetLinkRequestSchema)?.reason;
  expect(reason("nope", [])).toBe("INVALID_ID");
  expect(reason("", [])).toBe("INVALID_ID");
  expect(reason("nope", ["what"])).toBe("INVALID_ARGUMENT");
  expect(reason("0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d", [])).toBeUndefined();
});

test("the unspecified value of a required enum is refused", () => {
  const error = checkRequest(
    create(CreateWorkspaceTokenRequestSchema, {}),
    CreateWorkspaceTokenRequestSchema,
  );
  expect(error?.refusal.fields?.map(({ field }) => field)).toEqual(["keyType"]);
});

test("one answer lists at most 100 bad fields", () => {
  const { fields } = checked({ list: Array.from({ length: 500 }, () => "\u0000") });
  expect(fields).toHaveLength(100);
});

test("allowed texts are listed without the empty one, and the message counts the other faults", () => {
  const design = create(PublicCreateQrcodeDesignRequestSchema, {
    errorCorrectionLevel: "X",
    centralImageSize: 7,
  });
  const error = checkRequest(design, PublicCreateQrcodeDesignRequestSchema);
  expect(error?.refusal.fields).toContainEqual({
    field: "errorCorrectionLevel",
    description: "must be one of: L, M, Q, H",
  });
  expect(error?.message).toMatch(/^\w+: must .* \(and 1 more\)$/);
  const single = create(PublicCreateQrcodeDesignRequestSchema, { errorCorrectionLevel: "X" });
  expect(checkRequest(single, PublicCreateQrcodeDesignRequestSchema)?.message).toBe(
    "errorCorrectionLevel: must be one of: L, M, Q, H",
  );
});

test("a request of thousands of elements is checked up to its first bad field", () => {
  const bad = create(CreateLinkRequestSchema, { destination: "a", tags: Array(5_000).fill("") });
  expect(checkRequest(bad, CreateLinkRequestSchema)?.refusal.fields).toHaveLength(1);
});

test("stacks of combining marks that no script uses are refused before they are sorted", () => {
  const text = `e${"\u0301\u0316".repeat(100_000)}`;
  const { fields, error } = checked({ text, list: [text], byKey: { a: text } });
  expect(fields).toEqual(["text", "list[0]", "byKey.a"]);
  expect(error?.message).toBe("text: must not stack more than 30 combining marks on one letter (and 2 more)");
});
