import { sql } from "kysely";
import { expect, test } from "vitest";
import { addDirectory } from "../../../test/support/add-directory.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();
const { db, now } = api;

interface Answer {
  readonly links: { readonly id: string; readonly name: string }[];
  readonly nextPageToken: string;
  readonly totalCount: string;
}

async function list(workspace: TestWorkspace, query: Record<string, string>): Promise<Answer> {
  const { status, json } = await workspace.rest("GET", `/v1/links?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  return json;
}

/** Reads every page, one after another, with different sizes. */
async function listAll(workspace: TestWorkspace, query: Record<string, string>): Promise<string[]> {
  const sizes = ["137", "1000", "1", "333"];
  const ids: string[] = [];
  let pageToken = "";
  do {
    const pageSize = sizes.shift() ?? "500";
    const page = await list(workspace, { ...query, pageSize, pageToken });
    ids.push(...page.links.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return ids;
}

/** Rows as `create` writes them, with few different values in every column that lists are sorted by. */
async function addLinks(workspaceId: string, count: number): Promise<void> {
  await sql`with link as (
      insert into links (workspace_id, id, name, shortlink, qrcode_design_id, created_at, updated_at)
      select ${workspaceId}::uuid, gen_random_uuid(), (array['Äpfel', 'apples', 'Zoo', 'a_b%c\\d'])[1 + i % 4],
        'link-' || (i % 7), gen_random_uuid(), ${now()}::timestamptz + (i % 5) * interval '1 second',
        ${now()}::timestamptz + (i % 3) * interval '1 millisecond'
      from generate_series(1, ${count}::int) as i returning workspace_id, id)
    insert into link_counters (workspace_id, link_id, event_count)
    select workspace_id, id, hashtext(id::text)::bigint & 3 from link`.execute(db);
}

const columns = {
  CREATED_AT: "l.created_at",
  UPDATED_AT: "l.updated_at",
  SHORTLINK: "l.shortlink",
  NAME: "l.name",
  EVENT_COUNT: "c.event_count",
};

test("pages through 2,500 links with many ties without loss or repetition, in every order", async () => {
  const workspace = await api.newWorkspace();
  await addLinks(workspace.workspaceId, 2_500);
  for (const [field, column] of Object.entries(columns))
    for (const direction of ["asc", "desc"]) {
      const { rows } = await sql<{
        id: string;
      }>`select l.id from links l join link_counters c on c.link_id = l.id
        where l.workspace_id = ${workspace.workspaceId}
        order by ${sql.raw(`${column} ${direction}, l.id ${direction}`)}`.execute(db);
      const listed = await listAll(workspace, {
        sortBy: `LINK_SORT_FIELD_${field}`,
        sortDirection: `SORT_DIRECTION_${direction.toUpperCase()}`,
      });
      expect(listed, `${field} ${direction}`).toEqual(rows.map(({ id }) => id));
    }
});

test("loses no link while others are made and deleted between pages", async () => {
  const workspace = await api.newWorkspace();
  const make = async () =>
    (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json.link.id;
  const made: string[] = [];
  for (let i = 0; i < 9; i++) made.push(await make());
  const first = await list(workspace, { pageSize: "4" });
  await workspace.rest("DELETE", `/v1/links/${made[8]}`);
  await make();
  const rest = await list(workspace, { pageToken: first.nextPageToken });
  const seen = [...first.links, ...rest.links].map(({ id }) => id);
  expect(seen).toEqual(made.toReversed());
  expect(rest.nextPageToken).toBe("");
});

test("lists newest first, 100 at a time, and counts all", async () => {
  const workspace = await api.newWorkspace();
  await addLinks(workspace.workspaceId, 150);
  const page = await list(workspace, {});
  expect(page.links).toHaveLength(100);
  expect(page.totalCount).toBe("150");
  const newest = await list(workspace, { sortBy: "LINK_SORT_FIELD_CREATED_AT" });
  expect(page.links).toEqual(newest.links);
});

test("refuses a page token of another workspace, filter or order", async () => {
  const workspace = await api.newWorkspace();
  const other = await api.newWorkspace();
  await addLinks(workspace.workspaceId, 3);
  const { nextPageToken: pageToken } = await list(workspace, { pageSize: "1" });
  const refused: [TestWorkspace, Record<string, string>][] = [
    [other, {}],
    [workspace, { search: "a" }],
    [workspace, { sortBy: "LINK_SORT_FIELD_NAME" }],
    [workspace, { sortDirection: "SORT_DIRECTION_ASC" }],
    [workspace, { view: "LINK_VIEW_DIRECTORY" }],
  ];
  for (const [{ rest }, query] of refused) {
    const { status, json } = await rest("GET", `/v1/links?${new URLSearchParams({ ...query, pageToken })}`);
    expect([status, json.error.codeType]).toEqual([400, "INVALID_PAGE_TOKEN"]);
  }
  expect((await list(workspace, { pageToken, pageSize: "2", include: "tags" })).links).toHaveLength(2);
});

test("searches names and short links in any case, and takes wildcards literally", async () => {
  const workspace = await api.newWorkspace();
  await addLinks(workspace.workspaceId, 28);
  const count = async (search: string) => (await list(workspace, { search })).totalCount;
  expect(await count("ÄPF")).toBe("7");
  expect(await count("LINK-3")).toBe("4");
  expect(await count("b%c\\d")).toBe("7");
  expect(await count("a_b")).toBe("7");
  expect(await count("%")).toBe("7");
  expect(await count("_")).toBe("7");
  expect(await count("a%s")).toBe("0");
});

test("filters by any of several tags in any case", async () => {
  const workspace = await api.newWorkspace();
  const make = async (name: string, tags: string[]) =>
    workspace.rest("POST", "/v1/links", { destination: "https://example.com", name, tags });
  await make("both", ["Red", "Blue"]);
  await make("red", ["red"]);
  await make("blue", ["BLUE"]);
  await make("none", []);
  const names = async (tags: string) =>
    (await list(workspace, { tags, include: "tags" })).links.map(({ name }) => name);
  expect(await names("RED")).toEqual(["red", "both"]);
  expect(await names("red,blue")).toEqual(["blue", "red", "both"]);
  expect(await names("green")).toEqual([]);
  expect(await names("")).toEqual(["none", "blue", "red", "both"]);
});

test("shows the links of a directory, of none, or all", async () => {
  const workspace = await api.newWorkspace();
  const directoryId = await addDirectory(workspace);
  await workspace.rest("POST", "/v1/links", { destination: "https://a.example", directoryId });
  await workspace.rest("POST", "/v1/links", { destination: "https://b.example" });
  const names = async (query: Record<string, string>) =>
    (await list(workspace, query)).links.map(({ name }) => name);
  expect(await names({ directoryId }), "it counts in its view only").toEqual(["b.example", "a.example"]);
  expect(await names({ view: "LINK_VIEW_DIRECTORY", directoryId })).toEqual(["a.example"]);
  expect(await names({ view: "LINK_VIEW_DIRECTORY" })).toEqual(["b.example"]);
  expect(await names({})).toEqual(["b.example", "a.example"]);
  const other = await api.newWorkspace();
  const foreign = await other.rest("GET", `/v1/links?view=LINK_VIEW_DIRECTORY&directoryId=${directoryId}`);
  expect([foreign.status, foreign.json.error.codeType]).toEqual([404, "NOT_FOUND"]);
});

test("never shows another workspace's links", async () => {
  const workspace = await api.newWorkspace();
  await addLinks((await api.newWorkspace()).workspaceId, 5);
  for (const field of Object.keys(columns)) {
    const { links, totalCount } = await list(workspace, { sortBy: `LINK_SORT_FIELD_${field}` });
    expect([links, totalCount]).toEqual([[], "0"]);
  }
});
