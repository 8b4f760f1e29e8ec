import { expect, test } from "vitest";
import { type Circumstances, type ErrorWords, parseErrors, refusalsOf } from "./errors.ts";

const words: ErrorWords = {
  isReason: (word) => ["ID_TAKEN", "SHORTLINK_TAKEN", "INVALID_URL", "ASSISTANT_UNAVAILABLE"].includes(word),
  errorsOf: (method) => (method === "Create" ? "ALREADY_EXISTS (ID_TAKEN, SHORTLINK_TAKEN)." : undefined),
};
const open: Circumstances = {
  access: "open",
  mayNeedFullAccess: false,
  refusedInSandbox: undefined,
  hasInput: false,
  hasId: false,
  hasBody: false,
  takesIdempotencyKey: false,
};

test("every clause gives its code and the reasons in parentheses; without parentheses the code is the reason", () => {
  const text = "NOT_FOUND if it is gone; ALREADY_EXISTS (ID_TAKEN) if so, (SHORTLINK_TAKEN) if not.";
  expect(parseErrors(text, words)).toEqual([
    { code: "NOT_FOUND", reasons: ["NOT_FOUND"], text: "NOT_FOUND if it is gone" },
    {
      code: "ALREADY_EXISTS",
      reasons: ["ID_TAKEN", "SHORTLINK_TAKEN"],
      text: "ALREADY_EXISTS (ID_TAKEN) if so, (SHORTLINK_TAKEN) if not",
    },
  ]);
});

test("a method can include the errors of another method", () => {
  const clauses = parseErrors(
    "those of Create, for the first link; INVALID_ARGUMENT if there are none.",
    words,
  );
  expect(clauses.map(({ reasons }) => reasons)).toEqual([
    ["ID_TAKEN", "SHORTLINK_TAKEN"],
    ["INVALID_ARGUMENT"],
  ]);
});

test.each([
  ["the error of the first link.", "does not begin with a gRPC code"],
  ["NOT_HERE if it is gone.", "does not begin with a gRPC code"],
  ["NOT_FOUND (LOST) if it is gone.", "LOST is no value of ErrorReason"],
  ["those of Copy.", "there is no method Copy"],
])("words that nobody can read stop the generation: %s", (text, message) => {
  expect(() => parseErrors(text, words)).toThrow(message);
});

test("a method's reasons join those of the pipeline under one status", () => {
  const clauses = parseErrors("INVALID_ARGUMENT (INVALID_URL) if it is none.", words);
  const refusals = refusalsOf(clauses, { ...open, hasInput: true, hasId: true });
  expect(refusals).toContainEqual({
    status: 400,
    reasons: ["INVALID_ARGUMENT", "INVALID_ID", "INVALID_URL"],
    texts: ["INVALID_ARGUMENT (INVALID_URL) if it is none"],
  });
});

test("a 5xx status also lists the code itself as a reason", () => {
  const clauses = parseErrors("UNAVAILABLE (ASSISTANT_UNAVAILABLE).", words);
  const last = refusalsOf(clauses, open).at(-1);
  expect(last).toMatchObject({ status: 503, reasons: ["ASSISTANT_UNAVAILABLE", "UNAVAILABLE"] });
});

test("only methods that honour idempotency keys list the reasons about them", () => {
  const statuses = (circumstances: Circumstances) =>
    refusalsOf([], circumstances).map(({ status }) => status);
  expect(statuses(open)).toEqual([401, 429]);
  expect(statuses({ ...open, takesIdempotencyKey: true })).toEqual([400, 401, 409, 422, 429]);
});
