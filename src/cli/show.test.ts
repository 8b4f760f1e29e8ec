import { beforeAll, expect, test } from "vitest";
import type { JsonObject } from "./operations/flag-values.ts";
import { answerSchema, findCommand, loadGroup } from "./operations/groups.ts";
import { createShower } from "./show.ts";
import { textWidth } from "./table.ts";

let show: (group: string, command: string, width: number, ...pages: JsonObject[]) => string[];

beforeAll(async () => {
  const groups = new Map(
    await Promise.all(
      ["links", "events", "tags", "jobs"].map(async (name) => [name, await loadGroup(name)] as const),
    ),
  );
  show = (group, name, width, ...pages) => {
    const found = groups.get(group);
    const command = found === undefined ? undefined : findCommand(found, name);
    if (command === undefined) throw new Error(`there is no ${group} ${name}`);
    const shower = createShower(width);
    const lines = pages.flatMap((json) => shower.page({ schema: answerSchema(command), json }));
    return [...lines, ...shower.end()];
  };
});

const id = "0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d";

test("a list is a table of id, name and the columns that fit, without empty ones, and a line of totals", () => {
  const link = { id, workspaceId: id, name: "Menu", purpose: "", shortlink: "menu", eventCount: "7" };
  expect(show("links", "list", 66, { links: [link], nextPageToken: "t", totalCount: 1200 })).toEqual([
    `ID${" ".repeat(36)}NAME  SHORTLINK  EVENT-COUNT`,
    `${id}  Menu  menu       7`,
    "",
    "1 of 1,200 links; more with --all or --page-token t",
  ]);
});

test("later pages follow below the first, and the totals count all pages", () => {
  const page = (name: string) => ({ tags: [{ name }], nextPageToken: "" });
  expect(show("tags", "list", 80, page("summer"), page("a"))).toEqual(["NAME", "summer", "a", "", "2 tags"]);
  expect(show("tags", "list", 80, { tags: [] })).toEqual(["0 tags"]);
});

test("the form that an answer holds of several is shown like the answer itself", () => {
  const event = {
    id,
    action: "ACTION_SCAN",
    scannedAt: "2025-03-01T10:00:00.123Z",
    device: { country: "IS" },
  };
  expect(show("events", "list", 90, { json: { events: [event], hasMore: false, totalCount: 1 } })).toEqual([
    `ID${" ".repeat(36)}ACTION  SCANNED-AT            DEVICE.COUNTRY`,
    `${id}  SCAN    2025-03-01T10:00:00Z  IS`,
    "",
    "1 event",
  ]);
});

test("a record shows its values by name, with its lists below", () => {
  const workflowSteps = [{ id, eventAction: "EVENT_ACTION_LINK_VISIT" }];
  expect(show("links", "create", 80, { link: { id, name: "Menu", metadata: {} }, workflowSteps })).toEqual([
    `id    ${id}`,
    "name  Menu",
    "",
    "workflow-steps:",
    `ID${" ".repeat(36)}EVENT-ACTION`,
    `${id}  LINK_VISIT`,
  ]);
  expect(show("links", "delete", 80, {})).toEqual(["done"]);
  const job = {
    id,
    status: "JOB_STATUS_RUNNING",
    itemCount: 9,
    linksBulkCreate: { linkIds: [] },
  };
  expect(show("jobs", "get", 80, job)).toEqual([`id          ${id}`, "status      RUNNING", "item-count  9"]);
});

test("texts of other people cannot control the terminal", () => {
  const [, row] = show("tags", "list", 80, { tags: [{ name: "a\u001b[2Jb\u009bc\nd\u202ee" }] });
  expect(row).toBe("a [2Jb c d e");
});

test("wide characters take two columns, and long texts are cut between characters", () => {
  expect(textWidth("日本 👩‍🚀é")).toBe(8);
  const [, row = ""] = show("tags", "list", 200, { tags: [{ name: "本".repeat(60) }] });
  expect(row).toBe(`${"本".repeat(23)}…`);
});
