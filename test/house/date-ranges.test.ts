import { readdirSync } from "node:fs";
import { type DescFile, type DescMessage, getOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { message as messageOption } from "../../gen/buf/validate/validate_pb.js";

// protovalidate can share rules between fields but not between messages, so the rule is repeated.
const rule = {
  id: "start_date.before_end_date",
  message: "startDate must not be after endDate",
  expression: "!has(this.start_date) || !has(this.end_date) || this.start_date <= this.end_date",
};

test("every request with a start date and an end date has the same rule for the two", async () => {
  const folder = new URL("../../gen/signpost/v1/", import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith("_pb.js"));
  // Each module of generated code exports its file's descriptor together with those of its messages.
  const modules = await Promise.all(names.map((name): Promise<object> => import(new URL(name, folder).href)));
  const files = modules.flatMap((each) => Object.values(each).filter(isFile));
  const ranges = files.flatMap(({ messages }) => messages).filter(isRange);
  expect(ranges.length).toBeGreaterThan(10);
  for (const range of ranges)
    expect(getOption(range, messageOption).cel, range.typeName).toMatchObject([rule]);
});

function isFile(description: { readonly kind?: unknown }): description is DescFile {
  return description.kind === "file";
}

function isRange({ fields }: DescMessage): boolean {
  const names = fields.map(({ name }) => name);
  return names.includes("start_date") && names.includes("end_date");
}
