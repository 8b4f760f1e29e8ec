import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createWorkspace } from "../../src/api/workspaces/create-workspace.ts";
import { openDatabase } from "../../src/db/open.ts";
import { newId } from "../../src/lib/ids.ts";
import { deriveKey } from "../../src/lib/keys.ts";
import { lbidOfEvent } from "../../src/model/visitors/lbid.ts";
import { createTokenSigner } from "../../src/rpc/pipeline/credentials/tokens.ts";
import { onePixel } from "../support/one-pixel.ts";
import { type RestApi, restApi } from "../support/rest-api.ts";
import { eventually, type Service, sharedSecret, startService } from "../support/start-service.ts";

let service: Service;
let noisy: { readonly token: string; readonly rest: RestApi };
let quiet: { readonly token: string; readonly rest: RestApi };
let admin: pg.Client;
/** Holds locks while `admin` looks: within one transaction PostgreSQL's activity view never changes. */
let locker: pg.Client;

beforeAll(async () => {
  service = await startService({ env: { DATABASE_POOL_SIZE: "10" } });
  admin = new pg.Client(service.env.DATABASE_URL);
  locker = new pg.Client(service.env.DATABASE_URL);
  await Promise.all([admin.connect(), locker.connect()]);
  const { accessToken } = service.credentials;
  noisy = { token: accessToken, rest: restApi(service.baseUrl, accessToken) };
  const token = await otherWorkspace();
  quiet = { token, rest: restApi(service.baseUrl, token) };
});

afterAll(async () => {
  await Promise.all([admin?.end(), locker?.end()]);
  await service?.stop();
});

async function otherWorkspace(): Promise<string> {
  const { db, close } = openDatabase({
    connection: service.env.DATABASE_URL ?? "",
    poolSize: 1,
    statementTimeoutMs: 10_000,
    onError: () => {},
  });
  const signToken = createTokenSigner(deriveKey(sharedSecret, "access-tokens"));
  const order = { name: "Quiet", email: "quiet@example.com", password: "a password" };
  const { accessToken } = await createWorkspace({ db, now: () => new Date(), signToken }, order);
  await close();
  return accessToken;
}

/** Returns the status of an answer, whatever its body is. */
async function statusOf(method: string, path: string, token?: string, body?: object): Promise<number> {
  const answer = await fetch(`${service.baseUrl}${path}`, {
    method,
    redirect: "manual",
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json", "idempotency-key": randomUUID() }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** The lbid of an invented visit that claims to have begun just now. */
const inventedLbid = () => lbidOfEvent(newId(new Date()));

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** How many searches wait for a lock in the database. */
async function blocked(): Promise<number> {
  const { rows } = await admin.query(`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%came_again%'`);
  return rows[0].count;
}

/** Searches of one workspace that PostgreSQL works on at once. */
const blockedAtOnce = Math.max(1, Math.floor(availableParallelism() / 2));

test("calls and scans of other workspaces are answered while one workspace and strangers overload the service", async () => {
  const { shortlink: known } = await noisy.rest.createLink();
  const links = await Promise.all(times(8, () => quiet.rest.createLink()));
  // While this lock is held, every search of visitors waits.
  await locker.query("begin; lock table visitors_pages in access exclusive mode");
  const others = [
    ...times(50, () => statusOf("POST", "/v1/visitor/identify", noisy.token, { lbid: inventedLbid() })),
    ...times(20, () =>
      statusOf("POST", "/v1/media", noisy.token, { fileData: onePixel, mediaType: "TYPE_BADGE" }),
    ),
    ...times(200, () => statusOf("GET", `/${known}/s/${randomUUID()}?lbid=${inventedLbid()}`)),
  ];
  const searches = times(60, () => statusOf("GET", "/v1/visitors?search=x", noisy.token));
  await eventually(blocked, (count) => count >= blockedAtOnce);
  // Each link is asked for the first time, so that it has to be looked up.
  for (const { shortlink } of links)
    expect(
      await Promise.all([statusOf("GET", `/${shortlink}`), statusOf("GET", "/v1/links", quiet.token)]),
    ).toEqual([302, 200]);
  expect(await blocked()).toBe(blockedAtOnce);
  await locker.query("rollback");
  const statuses = new Set(await Promise.all([...searches, ...others]));
  // What nobody has made is not found, or not looked for that often; a slow machine may hold the lock for too long (503).
  expect(new Set([...statuses, 503])).toEqual(new Set([200, 404, 429, 503]));
});

test("a workspace with a full waiting line is refused with a retry delay, and its neighbour is not", async () => {
  await locker.query("begin; lock table visitors_pages in access exclusive mode");
  const searches = times(400, () => statusOf("GET", "/v1/visitors?search=x", noisy.token));
  const refused = Promise.race(searches);
  expect(await refused).toBe(429);
  expect(await statusOf("GET", "/v1/links", quiet.token)).toBe(200);
  await locker.query("rollback");
  expect(new Set(await Promise.all(searches))).toEqual(new Set([200, 429]));
});
