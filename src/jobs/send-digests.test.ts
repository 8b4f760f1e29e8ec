import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import type { DigestFrequency, MemberRole } from "../../gen/database.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { referenceAnalytics } from "../analytics/reference/driver.ts";
import { newId } from "../lib/ids.ts";
import type { MailFacts } from "../model/mail.ts";
import { sendDigests } from "./send-digests.ts";

const { db } = await testDatabase();
const analytics = referenceAnalytics(() => new Date());
const created = new Date("2026-01-01T00:00:00Z");
/** A Monday that is no 1st, at 08:00 in UTC. */
const monday = new Date("2026-11-16T08:00:00Z");
const first = new Date("2026-12-01T08:00:00Z");
const times = { created_at: created, updated_at: created };

beforeEach(async () => {
  for (const table of ["workspaces", "members", "workspace_digests", "graphile_worker._private_jobs"])
    await sql`delete from ${sql.table(table)}`.execute(db);
});

interface Of {
  readonly frequency?: DigestFrequency;
  readonly timezone?: string;
  readonly environment?: "live" | "test";
  readonly deleted_at?: Date;
  readonly inactive_since?: Date;
  readonly created_at?: Date;
}

async function newWorkspace({
  frequency = "WEEKLY",
  timezone = "UTC",
  ...columns
}: Of = {}): Promise<string> {
  const id = newId(created);
  await db
    .insertInto("workspaces")
    .values({
      id,
      name: "W",
      link_setting_id: id,
      timezone,
      digest_frequency: frequency,
      ...times,
      ...columns,
    })
    .execute();
  await newMember(id, "ADMIN");
  return id;
}

async function newMember(workspaceId: string, role: MemberRole, columns: object = { password_hash: "x" }) {
  const id = newId(created);
  await db
    .insertInto("members")
    .values({ workspace_id: workspaceId, id, email: `${id}@example.com`, role, ...times, ...columns })
    .execute();
  return id;
}

interface Queued {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly kind: string;
  readonly to: string;
  readonly facts: string;
}

async function queued(): Promise<readonly Queued[]> {
  const { rows } = await sql<{ payload: Queued }>`
    select payload from graphile_worker._private_jobs order by id`.execute(db);
  return rows.map(({ payload }) => payload);
}

async function runAt(at: Date): Promise<void> {
  await sendDigests({ db, analytics, now: () => at, batchSize: 2 });
}

test("each active administrator of each workspace gets one digest of the period, whoever runs the job how often", async () => {
  const workspaces: string[] = [];
  for (let made = 0; made < 5; made++) workspaces.push(await newWorkspace());
  const [id = ""] = workspaces;
  const second = await newMember(id, "ADMIN", { email_verified_at: created });
  await newMember(id, "ADMIN", { password_hash: "x", access_revoked_at: created });
  await newMember(id, "ADMIN", {});
  await newMember(id, "TECH");
  await newMember(id, "VIEWER");
  await Promise.all(Array.from({ length: 4 }, () => runAt(monday)));
  await runAt(new Date("2026-11-17T20:00:00Z"));
  const mails = await queued();
  expect(mails).toHaveLength(6);
  expect(new Set(mails.map(({ workspaceId }) => workspaceId))).toEqual(new Set(workspaces));
  expect(mails).toContainEqual(
    expect.objectContaining({ memberId: second, to: `${second}@example.com`, kind: "digest" }),
  );
  expect(JSON.parse(mails[0]?.facts ?? "")).toEqual({
    period: "week",
    firstDay: "2026-11-09",
    lastDay: "2026-11-15",
    visits: { now: 0, before: 0 },
    links: { now: 0, before: 0 },
    visitors: { now: 0, before: 0 },
    mostVisited: [],
  } satisfies MailFacts["digest"]);
  await runAt(new Date("2026-11-23T08:00:00Z"));
  expect(await queued()).toHaveLength(12);
});

test("a workspace gets digests as often as it wants them, and monthly when it has not said", async () => {
  const weekly = await newWorkspace({ frequency: "WEEKLY" });
  const monthly = await newWorkspace({ frequency: "MONTHLY" });
  const unsaid = await newWorkspace({ frequency: "UNSPECIFIED" });
  await newWorkspace({ frequency: "NONE" });
  await newWorkspace({ environment: "test" });
  await newWorkspace({ deleted_at: created });
  await newWorkspace({ inactive_since: created });
  // It began after the period.
  await newWorkspace({ created_at: new Date("2026-12-01T00:00:00Z"), frequency: "MONTHLY" });
  // 08:00 in Berlin is 07:00 in UTC.
  const early = await newWorkspace({ timezone: "Europe/Berlin" });
  await runAt(new Date(monday.getTime() - 60_000));
  expect((await queued()).map(({ workspaceId }) => workspaceId)).toEqual([early]);
  await runAt(monday);
  expect((await queued()).map(({ workspaceId }) => workspaceId)).toEqual([early, weekly]);
  await runAt(first);
  const told = (await queued())
    .slice(2)
    .map(({ workspaceId, facts }) => [workspaceId, JSON.parse(facts).firstDay]);
  expect(new Map(told as [string, string][])).toEqual(
    new Map([
      [monthly, "2026-11-01"],
      [unsaid, "2026-11-01"],
      // The 1st is a Tuesday: the week's digest of the day before is made up for.
      [weekly, "2026-11-23"],
      [early, "2026-11-23"],
    ]),
  );
});

test("the numbers are those of the period and the one before, with the most visited links first", async () => {
  const workspace_id = await newWorkspace({ timezone: "America/New_York" });
  const other = await newWorkspace();
  const at = (time: string) => new Date(`2026-11-${time}Z`);
  // The week in New York is from the 9th, 05:00, to the 16th, 05:00, in UTC.
  const visits = [
    ["Menu", "02T04:00:00", 1_000],
    ["Menu", "02T05:00:00", 7],
    ["Menu", "09T04:00:00", 3],
    ["Menu", "09T05:00:00", 20],
    ["Poster", "16T04:00:00", 40],
    ["Poster", "16T05:00:00", 1_000],
    ["", "10T12:00:00", 30],
  ] as const;
  const links = new Map<string, string>();
  for (const [name, hour, count] of visits) {
    const link_id = links.get(name) ?? newId(created);
    if (!links.has(name)) {
      links.set(name, link_id);
      const created_at = at(hour);
      await db
        .insertInto("links")
        .values({
          workspace_id,
          id: link_id,
          name,
          shortlink: `s-${name}`,
          qrcode_design_id: link_id,
          created_at,
          updated_at: created_at,
        })
        .execute();
    }
    const ids = Array.from({ length: count }, () => newId(at(hour)));
    await sql`insert into events (workspace_id, id, link_id, device_id, action, visit_type, counted, entrypoint,
        steps_total, steps_reached, outcome, created_at, updated_at)
      select ${workspace_id}, id, ${link_id}, ${newId(created)}, 'CLICK', 'FIRST', true, '', 1, 1, 'COMPLETED',
        ${at(hour)}, ${at(hour)}
      from unnest(${ids}::uuid[]) as given (id)`.execute(db);
  }
  for (const created_at of [at("08T12:00:00"), at("12T12:00:00"), at("13T12:00:00")])
    for (const id of [workspace_id, other])
      await db
        .insertInto("visitors")
        .values({ workspace_id: id, id: newId(created_at), created_at, updated_at: created_at })
        .execute();
  await runAt(new Date("2026-11-16T13:00:00Z"));
  const mail = (await queued()).find(({ workspaceId }) => workspaceId === workspace_id);
  expect(JSON.parse(mail?.facts ?? "")).toMatchObject({
    visits: { now: 90, before: 10 },
    links: { now: 2, before: 0 },
    visitors: { now: 2, before: 1 },
    mostVisited: [
      { name: "Poster", visits: 40 },
      { name: "s-", visits: 30 },
      { name: "Menu", visits: 20 },
    ],
  });
});

test("a run that is stopped or meets a workspace that fails tells the others, and the next run goes on", async () => {
  const ids = [await newWorkspace(), await newWorkspace(), await newWorkspace()];
  const [broken = ""] = ids;
  const stopped = AbortSignal.abort();
  await sendDigests({ db, analytics, now: () => monday }, stopped);
  expect(await queued()).toEqual([]);
  await sql`alter table workspace_digests add constraint broken check (workspace_id <> ${sql.lit(broken)})`.execute(
    db,
  );
  await expect(runAt(monday)).rejects.toThrow();
  expect((await queued()).map(({ workspaceId }) => workspaceId).toSorted()).toEqual(ids.slice(1).toSorted());
  await sql`alter table workspace_digests drop constraint broken`.execute(db);
  await runAt(monday);
  const told = (await queued()).map(({ workspaceId }) => workspaceId);
  expect([told.length, told.at(-1)]).toEqual([3, broken]);
});
