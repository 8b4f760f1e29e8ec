import { expect, test } from "vitest";
import { CreateContactLinkRequestSchema } from "../../gen/signpost/v1/links_service_pb.js";
import { UpdateWebhookRequestSchema } from "../../gen/signpost/v1/webhooks_service_pb.js";
import { expressionLimits } from "./expressions.ts";

const { vcardData } = CreateContactLinkRequestSchema.field;
const { name, status } = UpdateWebhookRequestSchema.field;

test("a text that has to match becomes a pattern, and alternatives become one pattern", () => {
  expect(expressionLimits(["this.matches('^[a-z]{3,64}$')"], name)).toEqual({ pattern: "^[a-z]{3,64}$" });
  const pattern =
    expressionLimits(["this.matches('^#[0-9]$') || this.matches('^a[(]b$')"], name).pattern ?? "";
  expect(["#1", "a(b", "#1a(b", "b"].map((text) => new RegExp(pattern).test(text))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("a refused value is named", () => {
  expect(expressionLimits(["this != 2"], status)).toEqual({ not: { const: "WEBHOOK_STATUS_DISABLED" } });
});

test("rules that JSON Schema cannot express are left out", () => {
  expect(expressionLimits(["this.values.size() == 0 || this.value == ''"], vcardData)).toEqual({});
  expect(expressionLimits(["this.matches('^a$') || this == 'b'"], name)).toEqual({});
  expect(expressionLimits(["this.first_name != ''"], vcardData)).toEqual({});
  expect(expressionLimits(["this != 99"], status)).toEqual({});
});
