import { randomUUID } from "node:crypto";
import { newId } from "../../../src/lib/ids.ts";
import type { StepAction } from "../../../src/model/steps/kinds.ts";
import type { Random } from "../../fuzz/random.ts";

export const uncountedReasons = [
  "CRAWLER",
  "LINK_PREVIEW",
  "PROGRAM",
  "AGENT",
  "PREFETCH",
  "PREVIEW",
  "EMBEDDED",
] as const;

export type UncountedReason = (typeof uncountedReasons)[number];

/** A step that a visit reached, in the order of the way. */
export interface Step {
  readonly action: StepAction;
  readonly data: object;
  readonly isCompleted: boolean;
  /** Whether the visit did what the step asks for. */
  readonly isDone: boolean;
  readonly offered: readonly string[];
  readonly chosen: string | undefined;
  readonly isFallback: boolean;
}

export interface WorldDevice {
  readonly id: string;
  readonly deviceType: "MOBILE" | "DESKTOP" | "TABLET" | "UNKNOWN" | "NATIVE";
  readonly country: string;
  readonly city: string;
  readonly browser: string;
  readonly platform: string;
}

export interface WorldVisitor {
  readonly id: string;
  email: string | undefined;
  /** Whether others were merged into this visitor. */
  isMerged: boolean;
  readonly plan: string | undefined;
  readonly at: Date;
}

export interface WorldVisit {
  readonly id: string;
  readonly at: Date;
  readonly linkId: string;
  readonly device: WorldDevice;
  visitor: WorldVisitor | undefined;
  /** Whether the visit counts. A locked one does not, until it is revealed. */
  counted: boolean;
  /** The number of a locked visit in its cycle. */
  lockedNumber: number | undefined;
  /** Why a visit does not count that is not locked. Undefined for one from before reasons were kept, too. */
  readonly uncountedReason: UncountedReason | undefined;
  /** Undefined for a visit that was stored at once. */
  readonly lateSeconds: number | undefined;
  readonly visitType: "FIRST" | "RETURNING";
  readonly score: number | undefined;
  readonly outcome: "COMPLETED" | "FALLBACK" | "ABANDONED";
  readonly steps: readonly Step[];
}

export interface WorldLink {
  readonly id: string;
  readonly name: string;
  readonly shortlink: string;
  tags: readonly string[];
  isDeleted: boolean;
}

/** Everything that the analytics of one workspace can know, in memory. */
export interface World {
  readonly timezone: string;
  readonly links: readonly WorldLink[];
  readonly devices: readonly WorldDevice[];
  readonly visitors: WorldVisitor[];
  readonly visits: WorldVisit[];
}

/** Values of the attribute `plan`, and the numbers that they say. */
export const planValues: ReadonlyMap<string, number | undefined> = new Map([
  ["12.5", 12.5],
  [" 7 ", 7],
  ["1e3", 1000],
  ["-0.25", -0.25],
  ["free", undefined],
  ["1e999", undefined],
  ["=HYPERLINK(1)", undefined],
  ["<b>pro</b>", undefined],
  ["__proto__", undefined],
  ["long ".repeat(800), undefined],
]);

/** The greatest number of a locked visit. */
export const lockedNumberMax = 1_000;

/** Moments around which visits crowd: clock changes of several zones, a leap day, ends of months. */
const crowded = [
  "2024-02-29T12:00:00Z",
  "2024-03-31T01:00:00Z",
  "2024-04-06T14:00:00Z",
  "2024-09-28T14:00:00Z",
  "2024-10-27T01:00:00Z",
  "2024-12-31T23:30:00Z",
].map((text) => Date.parse(text));

export function randomMoment(random: Random): number {
  const crowd = random.pick(crowded) ?? 0;
  const spread = random.pick([3_600_000, 5 * 3_600_000, 30 * 86_400_000] as const);
  return crowd - spread + random.below(2 * spread);
}

/** Makes the visitors, devices and visits of a world with the given links. */
export function randomWorld(
  random: Random,
  timezone: string,
  links: readonly WorldLink[],
  count: number,
): World {
  const devices = Array.from({ length: 30 }, () => randomDevice(random));
  const visitors = Array.from({ length: 40 }, (_, index) => randomVisitor(random, index));
  const world = { timezone, links, devices, visitors, visits: [] };
  return { ...world, visits: Array.from({ length: count }, () => randomVisit(random, world)) };
}

function randomDevice(random: Random): WorldDevice {
  return {
    id: randomUUID(),
    deviceType: random.pick(["MOBILE", "DESKTOP", "TABLET", "UNKNOWN", "NATIVE"] as const),
    country: random.pick(["DE", "AT", "US", "NZ", "AX", "ZA", ""] as const),
    city: random.pick(["Köln", "Zürich", "Aalen", "Ålesund", "🏙️", "__proto__", ""] as const),
    browser: random.pick(["Firefox", "Chrome", "=1+1", "constructor", ""] as const),
    platform: random.pick(["Android", "iOS", "Windows", ""] as const),
  };
}

export function randomVisitor(random: Random, index: number): WorldVisitor {
  const at = new Date(Date.UTC(2024, 0, 1) + random.below(1_000_000) * 1000);
  const plan = random.percent(60) ? random.pick([...planValues.keys()]) : undefined;
  const email = random.percent(30) ? `ada.${index}.${randomUUID()}@example.com` : undefined;
  return { id: randomUUID(), email, isMerged: false, plan, at };
}

export function randomVisit(random: Random, world: Omit<World, "visits">): WorldVisit {
  const at = new Date(randomMoment(random));
  const { steps, outcome } = randomWay(random);
  const device = random.pick(world.devices);
  const link = random.pick(world.links);
  const counted = random.percent(80);
  if (device === undefined || link === undefined) throw new Error("a world needs devices and links");
  const lockedNumber = !counted && random.percent(30) ? 1 + random.below(lockedNumberMax) : undefined;
  const isLocked = lockedNumber !== undefined;
  return {
    id: newId(at),
    at,
    linkId: link.id,
    device,
    visitor: random.percent(80) ? random.pick(world.visitors) : undefined,
    counted,
    lockedNumber,
    uncountedReason: counted || isLocked || random.percent(10) ? undefined : random.pick(uncountedReasons),
    lateSeconds: random.percent(5) ? 61 + random.below(100_000) : undefined,
    visitType: random.pick(["FIRST", "RETURNING"] as const),
    score: random.percent(50) ? random.below(101) : undefined,
    outcome,
    steps,
  };
}

/** The way of a visit: its entry, perhaps pages and a condition, and where it ended. */
function randomWay(random: Random): Pick<WorldVisit, "steps" | "outcome"> {
  const steps: Step[] = [step("LINK_VISIT", {})];
  if (random.percent(30))
    steps.push(step("COUNTRY_CONDITION", { countryCondition: { countries: [], hasElse: true } }));
  if (random.percent(40)) {
    const action = random.pick(["SUBMITTED", "SKIPPED", ""] as const);
    const offered = ["Submitted", "Skipped"];
    const chosen = action === "" ? undefined : action === "SUBMITTED" ? "Submitted" : "Skipped";
    steps.push(page("FORM_SUBMIT", { form: { title: "Who", action } }, offered, chosen));
    if (chosen === undefined) return { steps, outcome: "ABANDONED" };
  }
  if (random.percent(40)) {
    const offered = random.pick([
      ["Menu", "Booking"],
      ["Menu", "=1+1", "Ærø"],
    ] as const);
    const chosen = random.percent(70) ? random.pick(offered) : undefined;
    const buttons = offered.map((label, order) => ({ id: `button ${label}`, label, order }));
    const selectedButton = buttons.find(({ label }) => label === chosen);
    steps.push(
      page("MULTI_LINK", { multiLink: { availableButtons: buttons, selectedButton } }, offered, chosen),
    );
    if (chosen === undefined) return { steps, outcome: "ABANDONED" };
    // Another step of the same action in the same visit.
    if (random.percent(20))
      steps.push(
        page("MULTI_LINK", { multiLink: { availableButtons: buttons, selectedButton } }, offered, chosen),
      );
  }
  if (random.percent(20)) {
    const links = ["INSTAGRAM", "YOUTUBE"].map((platform, order) => ({
      id: platform,
      platform,
      url: "",
      order,
    }));
    const selectedLink = random.percent(50) ? random.pick(links) : undefined;
    const offered = links.map(({ platform }) => platform);
    const social = page(
      "SOCIAL_LINKS_PAGE",
      { socialLinks: { links, selectedLink } },
      offered,
      selectedLink?.platform,
    );
    steps.push({ ...social, isCompleted: true });
    return { steps, outcome: "COMPLETED" };
  }
  const isFallback = random.percent(10);
  const redirect = { destination: "https://example.com", conversionTracking: false, fallback: isFallback };
  steps.push({ ...step("CLIENT_REDIRECT", { redirect }), isFallback });
  return { steps, outcome: isFallback ? "FALLBACK" : "COMPLETED" };
}

function step(action: StepAction, data: object): Step {
  return { action, data, isCompleted: true, isDone: true, offered: [], chosen: undefined, isFallback: false };
}

function page(
  action: StepAction,
  data: object,
  offered: readonly string[],
  chosen: string | undefined,
): Step {
  const isDone = chosen !== undefined;
  return { action, data, isCompleted: isDone, isDone, offered, chosen, isFallback: false };
}
