import type { JsonObject } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { randomFrom } from "../../test/fuzz/random.ts";
import { askDriver } from "../../test/support/analytics/ask-driver.ts";
import { changes, type Place } from "../../test/support/analytics/changes.ts";
import { expectedAnswer, randomQuestion } from "../../test/support/analytics/questions.ts";
import { storeWorld } from "../../test/support/analytics/store-world.ts";
import { randomWorld, type WorldLink } from "../../test/support/analytics/world.ts";
import { startApi, type TestWorkspace } from "../../test/support/start-api.ts";
import { referenceAnalytics } from "./reference/driver.ts";

/** For long runs: another seed, and more questions. */
const { ANALYTICS_SEED: seed = "15", ANALYTICS_QUESTIONS: questions = "2000" } = process.env;

const api = await startApi();
const random = randomFrom(Number(seed));
const drivers = {
  reference: askDriver(referenceAnalytics(), api.db, api.now),
};

const places: Place[] = [];

beforeAll(async () => {
  // Clocks that are set in the north and in the south, some of them three quarters of an hour beside the full one.
  for (const timezone of ["Europe/Berlin", "Pacific/Chatham", "Asia/Kathmandu"])
    places.push({ ...(await newPlace(await api.newWorkspace(), timezone)), isSandbox: false });
  places.push({ ...(await newPlace(await api.newSandbox(), "America/New_York")), isSandbox: true });
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

test("every driver answers what counting visit by visit gives, whatever happens between the questions", async () => {
  const asked = new Set<string>();
  const made = new Set<string>();
  for (let number = 0; number < Number(questions); number++) {
    const place = random.pick(places);
    const change = random.pick(Object.keys(changes));
    if (place === undefined || change === undefined) throw new Error("there is nothing to ask");
    if (number % 15 === 14) {
      await changes[change]?.(api, place, random);
      made.add(change);
    }
    const question = randomQuestion(random, place.world);
    const { method } = question;
    const expected = expectedAnswer(place.world, question);
    for (const [driver, ask] of Object.entries(drivers)) {
      const answer = await ask(place.workspace.workspaceId, method, question.asked as JsonObject);
      const told = `${driver}, question ${number} of seed ${seed}: ${method.name} ${JSON.stringify(question.asked)}`;
      expect(answer, told).toEqual(expected);
    }
    asked.add(method.name);
  }
  expect([asked.size, made.size]).toEqual([14, Object.keys(changes).length]);
}, 300_000);
