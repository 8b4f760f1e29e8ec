import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { DirectoriesService } from "../../../gen/signpost/v1/directories_service_pb.js";
import { addDirectory } from "../../../test/support/add-directory.ts";
import { type Reply, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();
const { db } = api;

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

const at = "/v1/directories";
const add = (name: string, parent = "") => addDirectory(workspace, { name, parent });
const pathOf = async (id: string) => (await rest("GET", `${at}/${id}`)).json.directory.path;
const reasonOf = ({ status, json }: Reply) => [status, json.error?.codeType];

async function names(query: Record<string, string> = {}): Promise<string[]> {
  const { json } = await rest("GET", `${at}?${new URLSearchParams(query)}`);
  expect(json.totalCount).toBe(String(json.directories.length));
  return json.directories.map(({ path }: { path: string }) => path);
}

/** A chain of directories, one in the other. */
async function chain(levels: number, prefix = "level"): Promise<string[]> {
  const ids: string[] = [];
  for (let level = 1; level <= levels; level++) ids.push(await add(`${prefix} ${level}`, ids.at(-1)));
  return ids;
}

describe("create and get", () => {
  test("a directory has the path of its names, over REST and gRPC", async () => {
    const top = await add("Shop");
    const { directory } = await workspace
      .client(DirectoriesService)
      .create({ name: "  Menus ", parentDirectoryId: top });
    expect(directory).toMatchObject({ name: "Menus", parentDirectoryId: top, path: "Shop/Menus" });
    const { json } = await rest("GET", `${at}/${directory?.id}`);
    expect(json.directory).toEqual({
      id: directory?.id,
      workspaceId: workspace.workspaceId,
      name: "Menus",
      parentDirectoryId: top,
      path: "Shop/Menus",
      createdAt: json.directory.updatedAt,
      updatedAt: json.directory.createdAt,
    });
  });

  test("siblings have different names in any case; elsewhere the name is free", async () => {
    const top = await add("Über");
    expect(reasonOf(await rest("POST", at, { name: "ÜBER" }))).toEqual([409, "NAME_TAKEN"]);
    expect(await pathOf(await add("ÜBER", top))).toBe("Über/ÜBER");
  });

  test("refuses what cannot be placed, names the field, and writes nothing", async () => {
    const deepest = (await chain(10)).at(-1);
    const refused = [
      [{ name: "a/b" }, 400, "INVALID_ARGUMENT", "name"],
      [{ name: "" }, 400, "INVALID_ARGUMENT", "name"],
      [{ name: "x".repeat(101) }, 400, "INVALID_ARGUMENT", "name"],
      [{ name: "x", parentDirectoryId: "nowhere" }, 400, "INVALID_ID", "parentDirectoryId"],
      [{ name: "x", parentDirectoryId: randomUUID() }, 404, "NOT_FOUND", "parentDirectoryId"],
      [{ name: "x", parentDirectoryId: deepest }, 400, "INVALID_ARGUMENT", "parentDirectoryId"],
    ] as const;
    for (const [body, status, reason, field] of refused) {
      const answer = await rest("POST", at, body);
      expect(reasonOf(answer), JSON.stringify(body)).toEqual([status, reason]);
      expect(answer.json.error.message).toContain(field);
    }
    expect(await names({ recursive: "true" })).toHaveLength(10);
  });

  test("of 20 calls that make the same directory at once, one makes it", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => rest("POST", at, { name: "Shop" })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)]);
    expect(await names()).toEqual(["Shop"]);
  });
});

describe("list", () => {
  test("shows one level newest first, all levels by path, and finds names at every level", async () => {
    const shop = await add("Shop");
    await add("Menus", await add("Berlin", shop));
    const art = await add("Art");
    await add("berlin wall", art);
    expect(await names()).toEqual(["Art", "Shop"]);
    expect(await names({ parentDirectoryId: shop })).toEqual(["Shop/Berlin"]);
    expect(await names({ parentDirectoryId: shop, includeRoot: "true" })).toEqual([
      "Art",
      "Shop/Berlin",
      "Shop",
    ]);
    const all = ["Art", "Art/berlin wall", "Shop", "Shop/Berlin", "Shop/Berlin/Menus"];
    expect(await names({ recursive: "true" })).toEqual(all);
    expect(await names({ recursive: "true", parentDirectoryId: shop })).toEqual(all.slice(3));
    expect(await names({ search: "BERLIN" })).toEqual(["Art/berlin wall", "Shop/Berlin"]);
    expect(await names({ search: "berlin", parentDirectoryId: shop })).toEqual(["Shop/Berlin"]);
    expect(await names({ search: "%" })).toEqual([]);
    const unknown = await rest("GET", `${at}?parentDirectoryId=${randomUUID()}`);
    expect(reasonOf(unknown)).toEqual([404, "NOT_FOUND"]);
  });

  test("pages through the longest paths without loss or repetition, and neighbours of a name stay apart", async () => {
    const letters = ["𝔸", "é", '"', "\\", "z"];
    for (const letter of letters) {
      let parent = "";
      for (let level = 0; level < 10; level++) parent = await add(letter.repeat(100), parent);
    }
    await add("z", await add(`${"z".repeat(99)} `.trim()));
    const every = await names({ recursive: "true", pageSize: "1000" });
    const bytewise = every.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(every).toEqual(bytewise);
    const paged: string[] = [];
    let pageToken = "";
    do {
      const query = new URLSearchParams({ recursive: "true", pageSize: "7", pageToken });
      const { json } = await rest("GET", `${at}?${query}`);
      paged.push(...json.directories.map(({ path }: { path: string }) => path));
      pageToken = json.nextPageToken;
    } while (pageToken !== "");
    expect(paged).toEqual(every);
  });
});

describe("update", () => {
  test("renames and moves with everything below, and what is the same changes nothing", async () => {
    const [shop, art] = [await add("Shop"), await add("Art")];
    const berlin = await add("Berlin", shop);
    const menus = await add("Menus", berlin);
    await add("Shopping");
    expect((await rest("PATCH", `${at}/${shop}`, { name: "Store" })).json.directory.path).toBe("Store");
    expect(await pathOf(menus)).toBe("Store/Berlin/Menus");
    await rest("PATCH", `${at}/${berlin}`, { parentDirectoryId: art, name: "BERLIN" });
    expect(await pathOf(menus)).toBe("Art/BERLIN/Menus");
    const before = (await rest("GET", `${at}/${berlin}`)).json;
    expect((await rest("PATCH", `${at}/${berlin}`, { name: "BERLIN", parentDirectoryId: art })).json).toEqual(
      before,
    );
    await rest("PATCH", `${at}/${berlin}`, { parentDirectoryIdDelete: true });
    expect(await names({ recursive: "true" })).toEqual([
      "Art",
      "BERLIN",
      "BERLIN/Menus",
      "Shopping",
      "Store",
    ]);
  });

  test("refuses circles, taken names, depth and contradictions, and leaves the tree", async () => {
    const ids = await chain(6);
    const [top = "", second = "", , , , bottom = ""] = ids;
    const other = (await chain(5, "other")).at(-1) ?? "";
    await add("LEVEL 1", second);
    const tree = await names({ recursive: "true" });
    const refused = [
      [top, { parentDirectoryId: top }, 400, "DIRECTORY_CYCLE"],
      [top, { parentDirectoryId: bottom }, 400, "DIRECTORY_CYCLE"],
      [top, { parentDirectoryId: other }, 400, "INVALID_ARGUMENT"],
      [top, { parentDirectoryId: randomUUID() }, 404, "NOT_FOUND"],
      [second, { parentDirectoryId: other, parentDirectoryIdDelete: true }, 400, "MUTUALLY_EXCLUSIVE_FIELDS"],
      [second, { name: "LEVEL 1", parentDirectoryIdDelete: true }, 409, "NAME_TAKEN"],
      [second, { name: "" }, 400, "INVALID_ARGUMENT"],
      [randomUUID(), { name: "x" }, 404, "NOT_FOUND"],
    ] as const;
    for (const [id, body, status, reason] of refused)
      expect(reasonOf(await rest("PATCH", `${at}/${id}`, body)), JSON.stringify(body)).toEqual([
        status,
        reason,
      ]);
    expect(await names({ recursive: "true" })).toEqual(tree);
  });

  test("of two moves that together would close a circle, one wins", async () => {
    for (let round = 0; round < 10; round++) {
      const [a, b] = [await add(`a${round}`), await add(`b${round}`)];
      const answers = await Promise.all([
        rest("PATCH", `${at}/${a}`, { parentDirectoryId: b }),
        rest("PATCH", `${at}/${b}`, { parentDirectoryId: a }),
      ]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    }
  });

  test("while directories move, are made and go, every path is that of its parents", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) ids.push(await add(`d${i}`, ids[(i - 1) >> 1]));
    const pick = (n: number) => ids[n % ids.length] ?? "";
    const calls = Array.from({ length: 120 }, (_, n) => {
      if (n % 5 === 0) return rest("POST", at, { name: `new ${n}`, parentDirectoryId: pick(n * 7) });
      if (n % 11 === 0) return rest("DELETE", `${at}/${pick(n)}`);
      return rest("PATCH", `${at}/${pick(n * 5)}`, {
        parentDirectoryId: pick(n * 3 + 1),
        name: `renamed ${n}`,
      });
    });
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    const { rows } = await sql<{ path: string; wanted: string }>`
      with recursive tree as (
        select id, path, name as wanted from directories
          where workspace_id = ${workspace.workspaceId} and parent_directory_id is null
        union all select d.id, d.path, tree.wanted || '/' || d.name from directories d
          join tree on d.parent_directory_id = tree.id where d.workspace_id = ${workspace.workspaceId})
      select path, wanted from tree`.execute(db);
    for (const { path, wanted } of rows) expect(path).toBe(wanted);
    expect(new Set(rows.map(({ path }) => path))).toEqual(new Set(await names({ recursive: "true" })));
  });

  test("a reader never sees a tree that is half moved", async () => {
    const top = await add("A");
    for (let i = 0; i < 30; i++) await add(`d${i}`, top);
    let moving = true;
    const reader = (async () => {
      while (moving) {
        const paths = await names({ recursive: "true", pageSize: "1000" });
        expect(new Set(paths.map((path) => path.split("/")[0])).size).toBe(1);
      }
    })();
    for (let turn = 0; turn < 20; turn++) await rest("PATCH", `${at}/${top}`, { name: turn % 2 ? "A" : "B" });
    moving = false;
    await reader;
  });
});

describe("delete", () => {
  test("only an empty directory goes; deleted links do not count", async () => {
    const top = await add("Shop");
    const below = await add("Menus", top);
    expect(reasonOf(await rest("DELETE", `${at}/${top}`))).toEqual([412, "DIRECTORY_NOT_EMPTY"]);
    const link = { destination: "https://example.com", directoryId: below };
    const { id } = (await rest("POST", "/v1/links", link)).json.link;
    expect(reasonOf(await rest("DELETE", `${at}/${below}`))).toEqual([412, "DIRECTORY_NOT_EMPTY"]);
    await rest("DELETE", `/v1/links/${id}`);
    expect((await rest("DELETE", `${at}/${below}`)).json).toEqual({});
    expect(reasonOf(await rest("DELETE", `${at}/${below}`))).toEqual([404, "NOT_FOUND"]);
    expect((await rest("DELETE", `${at}/${top}`)).status).toBe(200);
  });

  test("a link that is made while its directory goes is never in a directory that is gone", async () => {
    for (let round = 0; round < 10; round++) {
      const id = await add(`round ${round}`);
      const [made, gone] = await Promise.all([
        rest("POST", "/v1/links", { destination: "https://example.com", directoryId: id }),
        rest("DELETE", `${at}/${id}`),
      ]);
      expect([`200 412`, `404 200`]).toContain(`${made.status} ${gone.status}`);
    }
  });
});
