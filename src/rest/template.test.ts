import { expect, test } from "vitest";
import { parsePathTemplate } from "./template.ts";

test.each([
  ["/v1/links", "v1 links", "", []],
  ["/v1/links/{id}", "v1 links *", "", ["id 2..3"]],
  ["/v1/links/{link.id}", "v1 links *", "", ["link.id 2..3"]],
  ["/v1/links/{link_id=*}/steps/{id}", "v1 links * steps *", "", ["link_id 2..3", "id 4..5"]],
  ["/v1/{name=shelves/*/books/*}", "v1 shelves * books *", "", ["name 1..5"]],
  ["/v1/{name=shelves}", "v1 shelves", "", ["name 1..2"]],
  ["/v1/files/{path=**}", "v1 files **", "", ["path 2..end"]],
  ["/v1/{path=files/**}", "v1 files **", "", ["path 1..end"]],
  ["/v1/*/links/**", "v1 * links **", "", []],
  ["/v1/images:resolve", "v1 images", "resolve", []],
  ["/v1/links/{id}:cancel", "v1 links *", "cancel", ["id 2..3"]],
  ["/v1/{path=**}:download", "v1 **", "download", ["path 1..end"]],
  ["/v1/a%20b", "v1 a b", "", []],
  ["/v1/a-b_c.d~e", "v1 a-b_c.d~e", "", []],
])("%s is parsed", (text, segments, verb, variables) => {
  const template = parsePathTemplate(text);
  const written = template.segments.map((segment) => {
    if (segment.kind === "literal") return segment.text;
    return segment.kind === "one" ? "*" : "**";
  });
  expect(written.join(" ")).toBe(segments);
  expect(template.verb).toBe(verb);
  expect(template.variables.map((v) => `${v.fieldPath.join(".")} ${v.start}..${v.end ?? "end"}`)).toEqual(
    variables,
  );
});

test.each([
  ["", 'column 1: expected "/", but the template ends'],
  ["v1/links", 'column 1: expected "/", but found "v"'],
  ["/", 'column 2: expected a literal, "*", "**" or "{", but the template ends'],
  ["/v1/", 'column 5: expected a literal, "*", "**" or "{", but the template ends'], // must not end in a slash
  ["/v1//links", 'column 5: expected a literal, "*", "**" or "{", but found "/"'],
  ["/v1/{id", 'column 8: expected "}", but the template ends'],
  ["/v1/{}", 'column 6: expected a field name, but found "}"'],
  ["/v1/{1d}", 'column 6: expected a field name, but found "1"'],
  ["/v1/{a.}", 'column 8: expected a field name, but found "}"'],
  ["/v1/{a={b}}", 'column 8: expected a literal, "*", "**" or "{", but found "{"'], // variables do not nest
  ["/v1/{a}b", 'column 8: expected the end, but found "b"'],
  ["/v1/x{a}", 'column 6: expected the end, but found "{"'],
  ["/v1/**/links", 'column 8: nothing but a verb may follow "**"'],
  ["/v1/{a=**}/{b}", 'column 14: nothing but a verb may follow "**"'],
  ["/v1/***", 'column 7: expected the end, but found "*"'],
  ["/v1/links?x=1", 'column 10: expected the end, but found "?"'],
  ["/v1/links:", 'column 11: expected a literal, "*", "**" or "{", but the template ends'],
  ["/v1/links:a/b", 'column 12: expected the end, but found "/"'], // the verb comes last
  ["/v1/%ff", "column 5: the percent-escapes are not UTF-8"],
  ["/v1/%4", 'column 5: expected a literal, "*", "**" or "{", but found "%"'],
])("%j is refused with its column", (text, message) => {
  expect(() => parsePathTemplate(text)).toThrow(new Error(message));
});
