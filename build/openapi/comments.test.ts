import { expect, test } from "vitest";
import { parseComment, parseMethodComment, wholeText } from "./comments.ts";

const names = new Map([
  ["page_token", "pageToken"],
  ["template_slug", "templateSlug"],
]);

test("the first sentence is the summary, and the errors are separate", () => {
  const raw = ` List links, newest first. Deleted ones
 are left out.

 A second paragraph.

 Errors: NOT_FOUND if there is
 no such directory.
`;
  expect(parseComment(raw, names)).toEqual({
    summary: "List links, newest first",
    rest: "Deleted ones are left out.\n\nA second paragraph.",
    errors: "NOT_FOUND if there is no such directory.",
  });
});

test("a full stop ends a sentence only where the next one begins", () => {
  const { summary } = parseComment(" Takes application/json, e.g. `{}`, up to 1.5 MB. Not more.", names);
  expect(summary).toBe("Takes application/json, e.g. `{}`, up to 1.5 MB");
});

test("names of fields become their JSON names, and other words in backticks stay", () => {
  const { summary } = parseComment(" Either `page_token` or `user_agent` or `template_slug`.", names);
  expect(summary).toBe("Either `pageToken` or `user_agent` or `templateSlug`");
});

test("lists keep their lines", () => {
  const text = wholeText(parseComment(" One of these:\n - the first\n - the second,\n   as well", names));
  expect(text).toBe("One of these:\n- the first\n- the second, as well.");
});

test("a method's summary ends at a colon, and the rest of the sentence starts the description", () => {
  const comment = parseMethodComment(parseComment(" Create a link: an entry step. It is free.", names));
  expect(comment).toMatchObject({ summary: "Create a link", rest: "An entry step. It is free." });
});

test("a missing comment is empty, and so is one that only says whose request it is", () => {
  expect(wholeText(parseComment(undefined, names))).toBe("");
  expect(wholeText(parseComment(" Request for List.", names))).toBe("");
  expect(wholeText(parseComment(" Response for List: one of both.", names))).toBe(
    "Response for List: one of both.",
  );
});
