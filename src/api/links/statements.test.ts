import { randomUUID } from "node:crypto";
import { create, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { Kysely, PostgresDialect } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { DB } from "../../../gen/database.ts";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { callContext } from "../../../test/support/call-context.ts";
import { tickingClock } from "../../../test/support/clock.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { referenceAnalytics } from "../../analytics/reference/driver.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { jobCall, jobCalls } from "../../jobs/queue.ts";
import { createPictureReader } from "../../lib/images/reencode-image.ts";
import { openStorage } from "../../lib/storage/open-storage.ts";
import { randomShortlink } from "../../model/links/shortlink.ts";
import { defaultPlans } from "../../model/plans/plan-table.ts";
import { linksService } from "./service.ts";

const { pool } = await testDatabase();
const statements: string[] = [];
const db = new Kysely<DB>({
  dialect: new PostgresDialect({ pool }),
  log: ({ query }) => void statements.push(query.sql.trim().split(/\s/, 1)[0] ?? ""),
});
const { now } = tickingClock();
const entitlements = createEntitlements({ plans: defaultPlans, now });
const service = linksService({
  now,
  newShortlink: randomShortlink,
  jobCall,
  jobCalls,
  autonomousDb: db,
  analytics: referenceAnalytics(now),
  signFileUrl: (key) => key,
  storage: await openStorage({ directory: "unused" }),
  pictures: createPictureReader(),
  publicFileUrl: (key) => key,
  shortUrl: "https://short.test",
  approvesEnrollment: false,
  stepPasswordKey: new Uint8Array(32),
  webhookSecretKey: new Uint8Array(32),
  addressFaultOf: async () => undefined,
  bulkJobLinks: 250,
  plans: defaultPlans,
  entitlements,
  baseUrl: "https://api.test",
  signUpUrl: "https://api.test/auth/sign-up",
  qrcodeWaitMs: 0,
});

const workspaceId = randomUUID();
const context = callContext(db, workspaceId);

function request<M extends DescMethodUnary>(method: M, init: MessageInitShape<M["input"]>) {
  return create<M["input"]>(method.input, init);
}

/** The first words of the statements that a call runs. */
async function statementsOf(run: () => Promise<unknown>): Promise<string[]> {
  statements.length = 0;
  await run();
  return [...statements];
}

const { method } = LinksService;
const include = ["customDomain", "qrcodeDesign", "qrcodeSignedUrl", "tags", "pageTheme"];
const destination = "https://example.com";

async function newLink(tags: string[] = []): Promise<string> {
  const { link } = await service.create(request(method.create, { destination, tags }), context);
  return link?.id ?? "";
}

// Read once in a while, for all calls of a workspace.
beforeAll(() => entitlements.of(workspaceId, db));

test("a link is made by one statement, with tags too", async () => {
  expect(await statementsOf(() => newLink())).toEqual(["with"]);
  expect(await statementsOf(() => newLink(["a", "b", "c"]))).toEqual(["with"]);
});

test("a link that refers to other records is made by two statements in a transaction", async () => {
  const directoryId = randomUUID();
  const times = { created_at: now(), updated_at: now() };
  await db
    .insertInto("directories")
    .values({ workspace_id: workspaceId, id: directoryId, name: "d", name_key: "d", path: "d", ...times })
    .execute();
  const made = () => service.create(request(method.create, { destination, directoryId }), context);
  expect(await statementsOf(made)).toEqual(["begin", "select", "with", "commit"]);
});

test("a link and everything it embeds is read by one statement", async () => {
  const id = await newLink(["a"]);
  expect(await statementsOf(() => service.get(request(method.get, { id, include }), context))).toEqual([
    "select",
  ]);
});

test("a page of links and all they embed is read by one statement, and counted by another", async () => {
  for (let i = 0; i < 10; i++) await newLink(["a", "b"]);
  const listed = () => service.list(request(method.list, { include, tags: ["a"], search: "e" }), context);
  expect(await statementsOf(listed)).toEqual(["select", "select"]);
});

test("a change is one statement that locks, one that reads and one that writes, which is left out when nothing changes", async () => {
  const id = await newLink(["a"]);
  const change = (init: MessageInitShape<typeof method.update.input>) => () =>
    service.update(request(method.update, { id, ...init }), context);
  expect(await statementsOf(change({ name: "n", tags: ["b"], purpose: "p" }))).toEqual([
    "begin",
    "select",
    "select",
    "with",
    "commit",
  ]);
  expect(await statementsOf(change({ name: "n" }))).toEqual(["begin", "select", "select", "commit"]);
});

test("a link is locked by one statement and deleted by another", async () => {
  const id = await newLink(["a"]);
  expect(await statementsOf(() => service.delete(request(method.delete, { id }), context))).toEqual([
    "begin",
    "select",
    "with",
    "commit",
  ]);
});
