import { type DescMessage, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { createValidator, type Violation } from "@bufbuild/protovalidate";

const validator = createValidator();

/** The rules that a message breaks, given as JSON, according to the validation library. */
export function brokenRules(desc: DescMessage, json: JsonObject): readonly Violation[] {
  const result = validator.validate(desc, fromJson(desc, json));
  if (result.kind === "error") throw result.error;
  return result.violations ?? [];
}

/** Whether one of them is `rule`; some rules share a name, such as `int32.gte_lte`. */
export function breaks(desc: DescMessage, json: JsonObject, rule: string): boolean {
  const [type = "", name = ""] = rule.split(".");
  return brokenRules(desc, json).some(
    ({ ruleId }) => ruleId === rule || (ruleId.startsWith(`${type}.`) && ruleId.includes(name)),
  );
}

/** Whether only `rule` is broken. */
export function breaksOnly(desc: DescMessage, json: JsonObject, rule: string): boolean {
  const broken = brokenRules(desc, json);
  return broken.length > 0 && broken.every(({ ruleId }) => ruleId === rule);
}
