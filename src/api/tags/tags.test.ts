import { beforeEach, expect, test } from "vitest";
import { TagsService } from "../../../gen/signpost/v1/tags_service_pb.js";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

async function newLink(...tags: string[]): Promise<string> {
  return (await rest("POST", "/v1/links", { destination: "https://example.com", tags })).json.link.id;
}

async function tagsOf(id: string): Promise<string[]> {
  const { json } = await rest("GET", `/v1/links/${id}?include=tags`);
  return json.link.tags.map(({ name }: { name: string }) => name);
}

async function names(query: Record<string, string> = {}): Promise<string[]> {
  const { json } = await rest("GET", `/v1/tags?${new URLSearchParams(query)}`);
  return json.tags.map(({ name }: { name: string }) => name);
}

test("lists tags newest first, page by page, and finds them by a part of their name", async () => {
  for (const tag of ["Summer", "winter", "MID_summer"]) await newLink(tag);
  expect(await names()).toEqual(["MID_summer", "winter", "Summer"]);
  expect(await names({ search: " sUMMER " })).toEqual(["MID_summer", "Summer"]);
  expect(await names({ search: "_" })).toEqual(["MID_summer"]);
  const first = (await rest("GET", "/v1/tags?pageSize=2")).json;
  const second = (await rest("GET", `/v1/tags?pageSize=2&cursor=${encodeURIComponent(first.nextPageToken)}`))
    .json;
  expect(second.tags).toMatchObject([{ name: "Summer" }]);
  expect(second.nextPageToken).toBe("");
  const { tags } = await workspace.client(TagsService).list({ search: "winter" });
  expect(tags).toMatchObject([{ name: "winter" }]);
});

test("a deleted tag leaves all links; another tag and another workspace's tag of the name stay", async () => {
  const [both, one] = [await newLink("red", "blue"), await newLink("red")];
  const other = await api.newWorkspace();
  await other.rest("POST", "/v1/links", { destination: "https://example.com", tags: ["red"] });
  expect((await rest("DELETE", "/v1/tags?name=red")).json).toEqual({});
  expect([await tagsOf(both), await tagsOf(one)]).toEqual([["blue"], []]);
  expect(await names()).toEqual(["blue"]);
  expect((await other.rest("GET", "/v1/tags")).json.tags).toHaveLength(1);
  const again = await rest("DELETE", "/v1/tags?name=red");
  expect([again.status, again.json.error.codeType]).toEqual([404, "NOT_FOUND"]);
});

test("deletes by the exact name, which must be given", async () => {
  await newLink("Red");
  expect((await rest("DELETE", "/v1/tags?name=red")).status).toBe(404);
  const unnamed = await rest("DELETE", "/v1/tags");
  expect([unnamed.status, unnamed.json.error.message]).toEqual([400, expect.stringContaining("name")]);
  await expect(workspace.client(TagsService).delete({ name: "x".repeat(51) })).rejects.toThrow("name");
  expect(await names()).toEqual(["Red"]);
});

test("a tag that goes while links take it is whole or gone, for all of them", async () => {
  for (let round = 0; round < 5; round++) {
    const tag = `tag ${round}`;
    await newLink(tag);
    const [gone, ...made] = await Promise.all([
      rest("DELETE", `/v1/tags?name=${encodeURIComponent(tag)}`),
      ...Array.from({ length: 5 }, () => newLink(tag)),
    ]);
    expect(gone.status).toBe(200);
    const listed = await names({ search: tag });
    const shown = await Promise.all(made.map(tagsOf));
    if (listed.length === 0) expect(shown.flat()).toEqual([]);
    expect(shown.flat().every((name) => name === tag)).toBe(true);
  }
});
