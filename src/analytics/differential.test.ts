import type { JsonObject } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { randomFrom } from "../../test/fuzz/random.ts";
import { askDriver } from "../../test/support/analytics/ask-driver.ts";
import { changes, type Place } from "../../test/support/analytics/changes.ts";
import { expectedAnswer, type Question, randomQuestion } from "../../test/support/analytics/questions.ts";
import { storeWorld } from "../../test/support/analytics/store-world.ts";
import { randomWorld, type WorldLink } from "../../test/support/analytics/world.ts";
import { startApi, type TestWorkspace } from "../../test/support/start-api.ts";
import { segmentAnalytics } from "./reading/driver.ts";
import { referenceAnalytics } from "./reference/driver.ts";

/** For long runs: another seed, and more questions. */
const { ANALYTICS_SEED: seed = "15", ANALYTICS_QUESTIONS: questions = "1000" } = process.env;

const api = await startApi();
const random = randomFrom(Number(seed));
const faults: string[] = [];
const segments = segmentAnalytics({
  connection: api.database.connection,
  now: api.now,
  cacheBytes: 4_000_000,
  timeoutMs: 60_000,
  maxAgeMs: 0,
  // Questions of a batch read the same state, so that most of the time is not spent reading it.
  share: 16,
  onFault: (fault) => faults.push(fault),
});
afterAll(segments.close);
const drivers = {
  reference: askDriver(referenceAnalytics(api.now), api.db, api.now),
  segments: askDriver(segments.ask, api.db, api.now),
};

let places: readonly [Place, ...Place[]];

beforeAll(async () => {
  const live = async (timezone: string) => ({
    ...(await newPlace(await api.newWorkspace(), timezone)),
    isSandbox: false,
  });
  // Clocks that are set in the north and in the south, some of them three quarters of an hour beside the full one.
  places = [
    await live("Europe/Berlin"),
    await live("Pacific/Chatham"),
    await live("Asia/Kathmandu"),
    { ...(await newPlace(await api.newSandbox(), "America/New_York")), isSandbox: true },
  ];
  // Statements about a few rows are planned for very many otherwise, which takes four times as long.
  await sql`analyze events, traces, devices, visitors, visitor_attributes`.execute(api.db);
});

const linkNames: readonly [string, readonly string[]][] = [
  ["Menu", ["red", "blue"]],
  ["Äpfel", ["red"]],
  ["=cmd()", ["blue"]],
  ["__proto__", []],
  ["Zoo", []],
];

async function newPlace(
  workspace: Pick<TestWorkspace, "rest" | "workspaceId">,
  timezone: string,
): Promise<Omit<Place, "isSandbox">> {
  const { rest, workspaceId } = workspace;
  await api.db.updateTable("workspaces").set({ timezone }).where("id", "=", workspaceId).execute();
  const links: WorldLink[] = [];
  for (const [name, tags] of linkNames) {
    const { json } = await rest("POST", "/v1/links", { destination: "https://example.com", name, tags });
    links.push({ id: json.link.id, name, shortlink: json.link.shortlink, tags, isDeleted: false });
  }
  const world = randomWorld(random, timezone, links, 300);
  await storeWorld(api.db, workspaceId, world);
  return { workspace, world };
}

/** How many questions are asked at once, between two changes. */
const together = 20;

/** Compares the answers of all drivers with what counting visit by visit gives. */
async function compare({ workspace, world }: Place, { method, asked }: Question, number: number) {
  const expected = expectedAnswer(world, { method, asked });
  for (const [driver, ask] of Object.entries(drivers)) {
    // An explanation is read from events, whatever answers the charts.
    if (driver === "segments" && method.name === "ExplainCount") continue;
    const { dataThrough, ...numbers } = await ask(workspace.workspaceId, method, asked as JsonObject);
    const told = `${driver}, question ${number} of seed ${seed}: ${method.name} ${JSON.stringify(asked)}`;
    expect(numbers, told).toEqual(expected);
  }
}

test("every driver answers what counting visit by visit gives, whatever happens between the questions", async () => {
  const asked = new Set<string>();
  const made = new Set<string>();
  for (let number = 0; number < Number(questions); number += together) {
    const place = random.pick(places);
    // Most changes meet segments.
    for (const change of [random.percent(50) ? "seal" : "", random.pick(Object.keys(changes)) ?? ""]) {
      await changes[change]?.(api, place, random);
      if (change !== "") made.add(change);
    }
    const comparisons = Array.from({ length: together }, (_, index) => {
      const question = randomQuestion(random, place.world);
      asked.add(question.method.name);
      return compare(place, question, number + index);
    });
    await Promise.all(comparisons);
  }
  expect(faults).toEqual([]);
  expect([asked.size, made.size]).toEqual([14, Object.keys(changes).length]);
}, 300_000);
