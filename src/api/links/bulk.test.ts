import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { addDirectory } from "../../../test/support/add-directory.ts";
import { type Reply, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();
const { db, now } = api;

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

const destination = "https://example.com/menu";
const bulk = (links: readonly object[], headers = {}) => rest("POST", "/v1/links/bulk", { links }, headers);
const batch = (links: readonly object[]) => rest("POST", "/v1/links/batch", links);
const refusalOf = ({ status, json }: Reply) => [status, json.error?.codeType];
const fieldsOf = ({ json }: Reply) =>
  json.error.details
    .flatMap(({ fieldViolations = [] }) => fieldViolations)
    .map(({ field }: { field: string }) => field);
const total = async () => (await rest("GET", "/v1/links?pageSize=1")).json.totalCount;
const names = ({ json }: Reply) => json.links.map(({ name }: { name: string }) => name);

describe.each([
  ["bulk", bulk],
  ["batch", batch],
])("%s", (_name, send) => {
  test("creates links in the order sent, each as one alone, with steps, tags, image and counter", async () => {
    const directoryId = await addDirectory(workspace);
    const answer = await send([
      {
        destination,
        name: "first",
        tags: ["Red", "blue"],
        shortlink: `a-${randomUUID()}`,
      },
      { destination, name: "second", directoryId, metadata: { k: "v" }, tags: ["BLUE"] },
      { destination: "https://third.example", expiresAt: "2100-01-01T00:00:00Z" },
    ]);
    expect(answer.status, answer.text).toBe(200);
    expect(names(answer)).toEqual(["first", "second", "third.example"]);
    const alone = await rest("POST", "/v1/links", { destination });
    for (const link of answer.json.links) {
      expect(Object.keys(link).filter((key) => key !== "expiresAt")).toEqual(Object.keys(alone.json.link));
      const { json } = await rest("GET", `/v1/links/${link.id}?include=tags&include=qrcodeDesign`);
      expect(json.link).toMatchObject({ ...link, eventCount: "0" });
      const steps = (await rest("GET", `/v1/links/${link.id}/workflow-steps`)).json.workflowSteps;
      expect(steps.map(({ eventAction }: { eventAction: string }) => eventAction)).toEqual([
        "EVENT_ACTION_LINK_VISIT",
        "EVENT_ACTION_CLIENT_REDIRECT",
      ]);
    }
    const tags = answer.json.links.map(({ tags }: { tags: { name: string }[] }) =>
      tags.map(({ name }) => name),
    );
    expect(tags).toEqual([["Red", "blue"], ["blue"], []]);
    expect(answer.json.links[1]).toMatchObject({ directoryId, metadata: { k: "v" } });
  });

  test("takes 1 to 250 links and no other number", async () => {
    expect(refusalOf(await send([]))).toEqual([400, "INVALID_ARGUMENT"]);
    expect(refusalOf(await send(Array(251).fill({ destination })))).toEqual([400, "INVALID_ARGUMENT"]);
    const answer = await send(Array.from({ length: 250 }, (_, i) => ({ destination, name: `link ${i}` })));
    expect(names(answer)).toEqual(Array.from({ length: 250 }, (_, i) => `link ${i}`));
    expect(new Set(answer.json.links.map(({ shortlink }: { shortlink: string }) => shortlink)).size).toBe(
      250,
    );
    expect(await total()).toBe("250");
  });

  test("one bad link refuses all, with the first bad one's status and every bad field", async () => {
    const invalid = await send([
      { destination },
      { destination: "javascript:alert(1)" },
      { name: "x".repeat(256) },
    ]);
    expect(refusalOf(invalid)).toEqual([400, "INVALID_ARGUMENT"]);
    expect(fieldsOf(invalid).toSorted()).toEqual([
      "links[1].destination",
      "links[2].destination",
      "links[2].name",
    ]);
    const id = randomUUID();
    const shortlink = `s-${id.slice(0, 8)}`;
    const taken = await rest("POST", "/v1/links", { destination, id, shortlink });
    expect(taken.status).toBe(200);
    const missing = randomUUID();
    const unknown = await send([
      { destination },
      { destination, directoryId: missing },
      { destination, shortlink },
      { destination, id },
    ]);
    expect(refusalOf(unknown)).toEqual([404, "NOT_FOUND"]);
    expect(unknown.json.error.message).toContain(`links[1].directoryId: there is no directory ${missing}`);
    expect(fieldsOf(unknown)).toEqual(["links[1].directoryId", "links[2].shortlink", "links[3].id"]);
    const second = await send([
      { destination, shortlink },
      { destination, directoryId: missing },
    ]);
    expect(refusalOf(second)).toEqual([409, "SHORTLINK_TAKEN"]);
    expect(second.json.error.message).toContain("links[0].shortlink");
    expect(await total()).toBe("1");
  });

  test("the only link of a request is named by its place too", async () => {
    const directoryId = randomUUID();
    const answer = await send([{ destination, directoryId }]);
    expect([...refusalOf(answer), ...fieldsOf(answer)]).toEqual([404, "NOT_FOUND", "links[0].directoryId"]);
  });

  test("the same short link, id or design twice in one request counts as taken", async () => {
    const id = randomUUID();
    const shortlink = `t-${id.slice(0, 8)}`;
    const design = (await rest("POST", "/v1/public/qrcode-designs", {})).json.qrcodeDesign.id;
    for (const [fields, status, reason, field] of [
      [{ shortlink }, 409, "SHORTLINK_TAKEN", "shortlink"],
      [{ id }, 409, "ID_TAKEN", "id"],
      [{ qrcodeDesignId: design }, 412, "DESIGN_IN_USE", "qrcodeDesignId"],
    ] as const) {
      const answer = await send([{ destination, ...fields }, { destination }, { destination, ...fields }]);
      expect(refusalOf(answer)).toEqual([status, reason]);
      expect(fieldsOf(answer)).toEqual([`links[2].${field}`]);
    }
    expect(await total()).toBe("0");
    expect((await send([{ destination, shortlink, id, qrcodeDesignId: design }])).status).toBe(200);
  });

  test("a blocked host refuses all and names its fields", async () => {
    const host = `${randomUUID()}.example`;
    await db.insertInto("blocked_hosts").values({ host, reason: "malware", created_at: now() }).execute();
    const answer = await send([{ destination }, { destination, fallbackDestination: `https://a.${host}/x` }]);
    expect(refusalOf(answer)).toEqual([400, "MALICIOUS_URL"]);
    expect(fieldsOf(answer)).toEqual(["links[1].fallbackDestination"]);
    expect(await total()).toBe("0");
  });
});

test("over gRPC the links are the same", async () => {
  const client = workspace.client(LinksService);
  const request = {
    links: [
      { destination, name: "one" },
      { destination, name: "two" },
    ],
  };
  for (const { links } of [await client.createBulk(request), await client.createBatch(request)])
    expect(links.map(({ name }) => name)).toEqual(["one", "two"]);
  await expect(client.createBulk({ links: [{ destination }, {}] })).rejects.toThrow("links[1].destination");
});

test("a repeated call with the same idempotency key makes the links once", async () => {
  const links = [{ destination }, { destination }];
  const headers = { "idempotency-key": "once" };
  const [first, second] = [await bulk(links, headers), await bulk(links, headers)];
  expect(second.json).toEqual(first.json);
  expect(second.headers["idempotent-replayed"]).toBe("true");
  expect(await total()).toBe("2");
});

test("of 10 calls at once that want the same short links in any order, one gets them", async () => {
  const shortlinks = Array.from({ length: 20 }, (_, i) => `race-${i}-${workspace.workspaceId}`);
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, turn) => {
      const order = turn % 2 ? shortlinks : shortlinks.toReversed();
      return bulk(order.map((shortlink) => ({ destination, shortlink })));
    }),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status !== 200).map(({ status }) => status)).toEqual(
    Array(9).fill(409),
  );
  expect(await total()).toBe("20");
});
