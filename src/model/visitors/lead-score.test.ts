import { describe, expect, test } from "vitest";
import { countriesNamedIn, countryCodes } from "../devices/countries.ts";
import { browserReleasesBehind, platformReleasesBehind } from "../devices/releases.ts";
import { type EndedVisit, leadScoreOf, scoringContextOf } from "./lead-score.ts";

const at = new Date("2026-11-12T12:00:00Z");

const visit: EndedVisit = {
  at,
  stepsCompleted: 2,
  stepsTotal: 2,
  secondsOnPages: 0,
  platformName: "",
  platformVersion: "",
  browserName: "",
  browserVersion: "",
  country: "",
  previousVisits: undefined,
  ratings: [],
  purpose: "",
};

function factorsOf(seen: Partial<EndedVisit>) {
  return leadScoreOf({ ...visit, ...seen }).factors;
}

describe("engagementLevel is 80 × the share of steps completed + 20 × the minute on pages", () => {
  test.each([
    ["everything at once, as a plain redirect", { stepsCompleted: 2, stepsTotal: 2 }, 80],
    ["everything, with a minute and more", { stepsCompleted: 2, stepsTotal: 2, secondsOnPages: 300 }, 100],
    ["half of it in half a minute", { stepsCompleted: 1, stepsTotal: 2, secondsOnPages: 30 }, 50],
    ["nothing of nothing", { stepsCompleted: 0, stepsTotal: 0 }, 0],
    ["steps that the way back added", { stepsCompleted: 5, stepsTotal: 4 }, 80],
  ])("%s", (_, seen, level) => {
    expect(factorsOf(seen).engagementLevel).toBe(level);
  });
});

describe("technologicalAptitude falls by 10 with each older major release", () => {
  test.each([
    ["the current Chrome", { browserName: "Chrome", browserVersion: "157.0.7412.3" }, 100],
    ["three Chromes behind", { browserName: "Chrome", browserVersion: "154" }, 70],
    ["a Chrome of years ago", { browserName: "Chrome", browserVersion: "90" }, 0],
    ["a Chrome that is not out yet", { browserName: "Chrome", browserVersion: "170" }, 100],
    ["Safari 18, which 26 and 27 followed", { browserName: "Safari", browserVersion: "18.5" }, 80],
    ["a Safari of an age that nobody lists", { browserName: "Safari", browserVersion: "9.1" }, 0],
    ["a Safari to come", { browserName: "Safari", browserVersion: "28.0" }, 100],
    ["an Android two behind", { platformName: "Android", platformVersion: "15" }, 80],
    ["Windows 7", { platformName: "Windows", platformVersion: "7" }, 60],
    [
      "the mean of both",
      { platformName: "iOS", platformVersion: "17.1", browserName: "Safari", browserVersion: "27.0" },
      85,
    ],
    ["a browser that tells nothing", { browserName: "Instagram", browserVersion: "300.0" }, undefined],
    ["a browser without a version", { browserName: "Chrome", browserVersion: "" }, undefined],
    ["what all Androids say", { platformName: "Android", platformVersion: "10" }, undefined],
    ["what all Windows say", { platformName: "Windows", platformVersion: "NT 10.0" }, undefined],
    ["what iPhones have said since 26", { platformName: "iOS", platformVersion: "18.7" }, undefined],
    ["what all Macs say", { platformName: "macOS", platformVersion: "10.15.7" }, undefined],
    ["names of Object's own", { platformName: "constructor", browserName: "toString" }, undefined],
  ])("%s", (_, seen, aptitude) => {
    expect(factorsOf(seen).technologicalAptitude).toBe(aptitude);
  });

  test("and browsers that come out steadily grow old by themselves", () => {
    const later = new Date(at.getTime() + 28 * 86_400_000);
    expect(browserReleasesBehind("Firefox", "160.0", at)).toBe(0);
    expect(browserReleasesBehind("Firefox", "160.0", later)).toBe(2);
    expect(platformReleasesBehind("Windows", "8.1")).toBe(2);
  });
});

test("recurringInterest is 25 × the visits before, at most 100, and needs a visitor", () => {
  const interest = [0, 1, 3, 4, 9].map((previousVisits) => factorsOf({ previousVisits }).recurringInterest);
  expect(interest).toEqual([0, 25, 75, 100, 100]);
  expect(factorsOf({}).recurringInterest).toBeUndefined();
});

test("recurringScans is unset on the first visit", () => {
  expect(leadScoreOf({ ...visit, previousVisits: 0 }).recurringScans).toBeUndefined();
  expect(leadScoreOf({ ...visit, previousVisits: 3 }).recurringScans).toBe(3);
});

test("brandSupportiveness is the mean of the ratings, scaled to 0–100, and unset without any", () => {
  expect(factorsOf({ ratings: [1] }).brandSupportiveness).toBe(0);
  expect(factorsOf({ ratings: [5, 5] }).brandSupportiveness).toBe(100);
  expect(factorsOf({ ratings: [3, 4] }).brandSupportiveness).toBe(63);
  expect(factorsOf({}).brandSupportiveness).toBeUndefined();
});

test("profileFit asks whether the visitor comes from a country that the purpose names", () => {
  const purpose = "Leads from Germany, the UK and Papua New Guinea";
  expect(factorsOf({ purpose, country: "DE" }).profileFit).toBe(100);
  expect(factorsOf({ purpose, country: "GB" }).profileFit).toBe(100);
  expect(factorsOf({ purpose, country: "GN" }).profileFit).toBe(0);
  expect(factorsOf({ purpose, country: "" }).profileFit).toBeUndefined();
  expect(factorsOf({ purpose: "IT leads", country: "IT" }).profileFit).toBeUndefined();
  expect(factorsOf({ country: "DE" }).profileFit).toBeUndefined();
});

test("every country is found by its English name", () => {
  const names = new Intl.DisplayNames("en", { type: "region" });
  for (const code of countryCodes) expect([...countriesNamedIn(`to ${names.of(code)}.`)]).toEqual([code]);
  expect([...countriesNamedIn("nigerian Germanys Omanthai")]).toEqual([]);
});

test("the score is the weighted mean of the factors that are set, rounded half up", () => {
  expect(leadScoreOf(visit).leadScore).toBe(80);
  expect(leadScoreOf({ ...visit, previousVisits: 1 }).leadScore).toBe(53); // (80 + 25) / 2 = 52.5
  // 2 × 80, 2 × 100 and 3 × 0 of 7 for leads: 51.4
  const purpose = "Collect B2B leads in France";
  expect(leadScoreOf({ ...visit, previousVisits: 4, country: "DE", purpose }).leadScore).toBe(51);
});

test("what a score is weighed for follows from the words of the purpose", () => {
  expect(scoringContextOf("")).toBe("");
  expect(scoringContextOf("Collect B2B sales leads")).toBe("b2b_enterprise");
  expect(scoringContextOf("Grow our community of followers")).toBe("community_social");
  expect(scoringContextOf("Discounts in our stores")).toBe("retail_commerce");
  expect(scoringContextOf("Guests of the festival")).toBe("event_experience");
  expect(scoringContextOf("Yes")).toBe("general");
});
