import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { SpecimenSchema } from "../../../gen/signpost/testing/v1/specimen_pb.js";
import { UpdateRequestSchema } from "../../../gen/signpost/testing/v1/specimens_service_pb.js";
import { completed, maskFaults } from "./update-mask.ts";

function requestOf(paths: string[], child?: MessageInitShape<typeof SpecimenSchema>) {
  return create(UpdateRequestSchema, { id: "x", child, updateMask: { paths } });
}

function faultsOf(...paths: string[]): string[] {
  return maskFaults(requestOf(paths), UpdateRequestSchema).map(({ description }) => description);
}

function childAfter(
  paths: string[],
  sent: MessageInitShape<typeof SpecimenSchema> | undefined,
  stored: MessageInitShape<typeof SpecimenSchema> | undefined,
) {
  const record = create(UpdateRequestSchema, { id: "y", child: stored });
  const request = requestOf(paths, sent);
  const { child } = completed(
    request,
    UpdateRequestSchema,
    () => record,
    () => undefined,
  );
  return child && toJson(SpecimenSchema, child);
}

test("every way through messages to a field can be named, and so can all fields", () => {
  expect(faultsOf("*", "display_name", "child", "child.child.choice_child.tags", "child.created_at")).toEqual(
    [],
  );
});

test.each([
  ["child.children.id", "child.children"],
  ["child.children_by_flag.true.id", "child.children_by_flag"],
  ["child.metadata.key", "child.metadata"],
  ["child.struct.fields", "child.struct"],
  ["child.created_at.seconds", "child.created_at"],
  ["child.string_wrapper.value", "child.string_wrapper"],
  ["tags.0", "tags"],
])("%s goes through what is one value, and is refused with what to name", (path, whole) => {
  expect(faultsOf(path)).toEqual([`names ${path}, a part of ${whole}: name ${whole} and send it whole`]);
});

test.each(["", ".", "child.", "child.choice", "childs", "child.constructor", "child.*", "Child"])(
  "%j is no field and is refused",
  (path) => {
    expect(faultsOf(path)).toEqual([`names ${path}, which no update changes`]);
  },
);

test("a refusal quotes the beginning of a long path, and no more than a hundred paths are refused", () => {
  expect(faultsOf("x".repeat(10_000))).toEqual([`names ${"x".repeat(100)}…, which no update changes`]);
  expect(faultsOf(...Array.from({ length: 500 }, (_, index) => `x${index}`)).length).toBeLessThanOrEqual(100);
});

test("a part of a part changes, and everything around it stays", () => {
  const stored = { id: "a", tags: ["t"], child: { id: "b", displayName: "B", enabled: true } };
  const sent = { id: "A", child: { id: "B", displayName: "new" } };
  expect(childAfter(["child.child.display_name"], sent, stored)).toEqual({
    id: "a",
    tags: ["t"],
    child: { id: "b", displayName: "new", enabled: true },
  });
});

test("a message is made where there was none, and only for a part that is sent", () => {
  const sent = { child: { displayName: "new" } };
  expect(childAfter(["child.child.display_name"], sent, undefined)).toEqual(sent);
  expect(childAfter(["child.child.display_name"], {}, { id: "a" })).toEqual({ id: "a" });
  expect(childAfter(["child.child.display_name"], undefined, undefined)).toBeUndefined();
});

test("lists, maps and messages that a path ends in are replaced, also by nothing", () => {
  const stored = { id: "a", tags: ["t"], metadata: { k: "v" }, child: { id: "b", enabled: true } };
  const sent = { tags: ["u", "v"], child: { id: "c" } };
  expect(childAfter(["child.tags", "child.metadata", "child.child"], sent, stored)).toEqual({
    id: "a",
    tags: ["u", "v"],
    child: { id: "c" },
  });
});

test("a choice is taken when it is sent, and emptied only where it is the one that was taken", () => {
  const stored = { choice: { case: "choiceString", value: "s" } } as const;
  const sent = { choice: { case: "choiceChild", value: { id: "c", enabled: true } } } as const;
  expect(childAfter(["child.choice_child.id"], sent, stored)).toEqual({ choiceChild: { id: "c" } });
  expect(childAfter(["child.choice_child.id"], {}, stored)).toEqual({ choiceString: "s" });
  expect(childAfter(["child.choice_int32"], {}, stored)).toEqual({ choiceString: "s" });
  expect(childAfter(["child.choice_string"], {}, stored)).toEqual({});
});

test("what is stored is never changed itself", () => {
  const record = create(UpdateRequestSchema, { child: { tags: ["t"], child: { id: "b" } } });
  const before = toJson(UpdateRequestSchema, record);
  const request = requestOf(["child.child.id", "child.tags"], { tags: ["u"], child: { id: "c" } });
  completed(
    request,
    UpdateRequestSchema,
    () => record,
    () => undefined,
  );
  expect(toJson(UpdateRequestSchema, record)).toEqual(before);
});
