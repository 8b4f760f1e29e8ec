import { expect, test } from "vitest";
import { usedMs } from "../../../test/support/used-ms.ts";
import { asksForChoice, parseTemplate } from "./attribute-capture.ts";

test("a template is its texts and what stands between braces, in order", () => {
  expect(parseTemplate("a{{now}}{{link.metadata.b c}}}}d{{")).toEqual({
    template: [
      { kind: "text", text: "a" },
      { kind: "now" },
      { kind: "link.metadata", key: "b c" },
      { kind: "text", text: "}}d{{" },
    ],
    unknown: [],
  });
  expect(parseTemplate("")).toEqual({ template: [], unknown: [] });
});

test.each(["{{}}", "{{ now }}", "{{Now}}", "{{link}}", "{{link.metadata.}}", "{{{{now}}", "{{toString}}"])(
  "%j stands for nothing",
  (value) => {
    expect(parseTemplate(value)).toEqual({ template: [], unknown: [value] });
  },
);

test("only templates that speak of the button ask for one", () => {
  expect(asksForChoice(parseTemplate("x{{choice.id}}").template)).toBe(true);
  expect(asksForChoice(parseTemplate("{{choice.label}}").template)).toBe(true);
  expect(asksForChoice(parseTemplate("choice.id{{now}}").template)).toBe(false);
});

test.each(["{{", "}}", "{{now}}", "{{a}}", "{", "{{}"])(
  "a million characters of %j are read in one go",
  (piece) => {
    const before = usedMs();
    parseTemplate(piece.repeat(1_000_000 / piece.length));
    // It takes about 200 ms. Reading the same characters again and again would take minutes.
    expect(usedMs() - before).toBeLessThan(5_000);
  },
);
