import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { confusionOf, isCountedHere } from "./confusion.ts";
import { type ListedAgent, listSources, readPublicLists } from "./public-lists.ts";

const agents = readPublicLists();

test("the public lists have more than 3,000 user agents, under licences that let anybody use them", () => {
  expect(agents.length).toBeGreaterThan(3_000);
  for (const { license } of listSources()) expect(["MIT", "BSD-2-Clause"]).toContain(license);
  expect(agents.filter(({ isHeldOut }) => isHeldOut).length).toBeGreaterThan(agents.length / 4);
});

test("at most five crawlers of a thousand are counted, and ten of a thousand in the third that was held out", () => {
  expect(shareCounted(agents)).toBeLessThanOrEqual(0.005);
  expect(shareCounted(agents.filter(({ isHeldOut }) => isHeldOut))).toBeLessThanOrEqual(0.01);
});

function shareCounted(some: readonly ListedAgent[]): number {
  const { programs, programsCounted } = confusionOf(some, isCountedHere);
  return programsCounted / programs;
}

test("every browser of today is counted, and almost every browser of the last thirty years", () => {
  const refused = (list: string) =>
    confusionOf(
      agents.filter((agent) => agent.list === list),
      isCountedHere,
    ).browsersRefused;
  expect(refused("user-agents")).toBe(0);
  // One of a thousand browsers of all lists.
  expect(refused("random-useragent")).toBeLessThanOrEqual(1);
});

test("the README states the recall that the rules have", () => {
  const readme = readFileSync(new URL("README.md", import.meta.url), "utf8");
  const [programs = [], today = [], old = []] = ["programs (", "people of today", "people since"].map(
    (name) =>
      readme
        .split("\n")
        .find((line) => line.startsWith(`| ${name}`))
        ?.split("|")
        .map((cell) => cell.trim()),
  );
  const recallOf = (wrong: number, all: number) => `${Number((100 * (1 - wrong / all)).toFixed(2))} %`;
  const peopleOf = (list: string, isThird: boolean) => {
    const some = agents.filter((agent) => agent.list === list && (!isThird || agent.isHeldOut));
    const { browsers, browsersRefused } = confusionOf(some, isCountedHere);
    return recallOf(browsersRefused, browsers);
  };
  const third = agents.filter(({ isHeldOut }) => isHeldOut);
  expect([programs[3], programs[5]]).toEqual([
    recallOf(shareCounted(agents), 1),
    recallOf(shareCounted(third), 1),
  ]);
  expect([today[3], today[5]]).toEqual([peopleOf("user-agents", false), peopleOf("user-agents", true)]);
  expect([old[3], old[5]]).toEqual([peopleOf("random-useragent", false), peopleOf("random-useragent", true)]);
});
