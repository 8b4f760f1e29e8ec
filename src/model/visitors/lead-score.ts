import { countriesNamedIn } from "../devices/countries.ts";
import { browserReleasesBehind, platformReleasesBehind } from "../devices/releases.ts";

/** What a score is made of, 0 to 100 each. A factor that could not be measured is undefined, and has no weight. */
export interface ScoreFactors {
  readonly engagementLevel: number | undefined;
  readonly technologicalAptitude: number | undefined;
  readonly recurringInterest: number | undefined;
  readonly brandSupportiveness: number | undefined;
  readonly profileFit: number | undefined;
}

export interface LeadScore {
  /** 0 to 100. */
  readonly leadScore: number;
  readonly factors: ScoreFactors;
  /** How many visits came before this one. Undefined on the first. */
  readonly recurringScans: number | undefined;
}

/** A visit whose journey has ended. */
export interface EndedVisit {
  /** When it ended, to compare its software with what was current then. */
  readonly at: Date;
  /** Conditions do not count. */
  readonly stepsCompleted: number;
  /** As the journey counts them. */
  readonly stepsTotal: number;
  readonly secondsOnPages: number;
  /** Names and versions as devices have them; empty when unknown. */
  readonly platformName: string;
  readonly platformVersion: string;
  readonly browserName: string;
  readonly browserVersion: string;
  /** ISO 3166-1 alpha-2; empty when unknown. */
  readonly country: string;
  /** How many visits the visitor had made before this one. Undefined without a visitor. */
  readonly previousVisits: number | undefined;
  /** Answers to RATING fields, 1 to 5. */
  readonly ratings: readonly number[];
  /** The purpose of the link. */
  readonly purpose: string;
}

type Weights = { readonly [Factor in keyof ScoreFactors]: number };

const equalWeights: Weights = {
  engagementLevel: 1,
  technologicalAptitude: 1,
  recurringInterest: 1,
  brandSupportiveness: 1,
  profileFit: 1,
};

interface ScoringContext {
  readonly name: string;
  /** The words of a purpose that speak for this context. */
  readonly words: RegExp;
  readonly weights: Weights;
}

/** What links are made for. The context that most words of a purpose speak for wins; of equal ones, the first. */
const contexts: readonly ScoringContext[] = [
  {
    name: "b2b_enterprise",
    words:
      /\b(?:b2b|enterprises?|business(?:es)?|compan(?:y|ies)|corporate|leads?|sales|saas|software|demos?|prospects?|buyers?|procurement|trade (?:show|fair)s?|consult\w*|industr\w*)\b/gi,
    weights: { ...equalWeights, engagementLevel: 2, recurringInterest: 2, profileFit: 3 },
  },
  {
    name: "community_social",
    words:
      /\b(?:communit(?:y|ies)|social|followers?|fans?|members?|club|friends?|volunteers?|charit(?:y|ies)|donat\w*|nonprofit|creators?|influencers?|newsletters?|audience)\b/gi,
    weights: { ...equalWeights, engagementLevel: 2, recurringInterest: 3, brandSupportiveness: 3 },
  },
  {
    name: "retail_commerce",
    words:
      /\b(?:shops?|stores?|retail|commerce|ecommerce|products?|purchases?|orders?|discounts?|coupons?|vouchers?|loyalty|customers?|packag\w*|menus?|restaurants?|caf[eé]s?)\b/gi,
    weights: { ...equalWeights, engagementLevel: 2, recurringInterest: 3, brandSupportiveness: 2 },
  },
  {
    name: "event_experience",
    words:
      /\b(?:events?|conferences?|festivals?|concerts?|tickets?|attendees?|guests?|wedding|exhibitions?|museums?|tours?|hotels?|registrations?)\b/gi,
    weights: { ...equalWeights, engagementLevel: 3, brandSupportiveness: 2 },
  },
];

/** The context that a score is weighed for. Empty without a purpose, `general` when no word speaks for a context. */
export function scoringContextOf(purpose: string): string {
  return purpose.trim() === "" ? "" : (purposeOf(purpose).context?.name ?? "general");
}

/** Scores a visit. Pure. */
export function leadScoreOf(visit: EndedVisit): LeadScore {
  const { previousVisits } = visit;
  const factors: ScoreFactors = {
    engagementLevel: engagementLevel(visit),
    technologicalAptitude: technologicalAptitude(visit),
    recurringInterest: previousVisits === undefined ? undefined : Math.min(100, 25 * previousVisits),
    brandSupportiveness: brandSupportiveness(visit.ratings),
    profileFit: profileFit(visit),
  };
  const weights = purposeOf(visit.purpose).context?.weights ?? equalWeights;
  return {
    leadScore: weightedMean(factors, weights),
    factors,
    recurringScans: previousVisits === 0 ? undefined : previousVisits,
  };
}

function engagementLevel({ stepsCompleted, stepsTotal, secondsOnPages }: EndedVisit): number {
  const share = stepsTotal === 0 ? 0 : Math.min(1, stepsCompleted / stepsTotal);
  return halfUp(80 * share + 20 * Math.min(1, Math.max(0, secondsOnPages) / 60));
}

/** The mean of the operating system's and the browser's score, of those that are known. */
function technologicalAptitude(visit: EndedVisit): number | undefined {
  const behind = [
    platformReleasesBehind(visit.platformName, visit.platformVersion),
    browserReleasesBehind(visit.browserName, visit.browserVersion, visit.at),
  ].filter((releases) => releases !== undefined);
  return mean(behind.map((releases) => Math.max(0, 100 - 10 * releases)));
}

/** 1 of 5 is 0, 5 of 5 is 100. */
function brandSupportiveness(ratings: readonly number[]): number | undefined {
  return mean(ratings.map((rating) => (rating - 1) * 25));
}

/**
 * 100 when the visitor's country is among those that the purpose names, else 0. Undefined without such countries, or
 * when the visitor's country is unknown.
 */
function profileFit({ purpose, country }: EndedVisit): number | undefined {
  const { countries } = purposeOf(purpose);
  if (country === "" || countries.size === 0) return undefined;
  return countries.has(country) ? 100 : 0;
}

interface ReadPurpose {
  readonly context: ScoringContext | undefined;
  readonly countries: ReadonlySet<string>;
}

const noPurpose: ReadPurpose = { context: undefined, countries: new Set() };

/** Reading a purpose takes much longer than scoring a visit, and many visits share one. */
const purposes = new Map<string, ReadPurpose>();
const purposesMax = 1_000;

function purposeOf(purpose: string): ReadPurpose {
  if (purpose === "") return noPurpose;
  const known = purposes.get(purpose);
  if (known !== undefined) return known;
  const read = { context: contextOf(purpose), countries: countriesNamedIn(purpose) };
  if (purposes.size >= purposesMax) purposes.clear();
  purposes.set(purpose, read);
  return read;
}

function contextOf(purpose: string): ScoringContext | undefined {
  let best: ScoringContext | undefined;
  let most = 0;
  for (const context of contexts) {
    const count = purpose.match(context.words)?.length ?? 0;
    if (count <= most) continue;
    best = context;
    most = count;
  }
  return best;
}

function weightedMean(factors: ScoreFactors, weights: Weights): number {
  let sum = 0;
  let weight = 0;
  for (const [name, value] of Object.entries(factors)) {
    if (value === undefined) continue;
    const own = weights[name as keyof ScoreFactors]; // of the same record
    sum += own * value;
    weight += own;
  }
  return weight === 0 ? 0 : halfUp(sum / weight);
}

function mean(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  return halfUp(values.reduce((sum, value) => sum + value, 0) / values.length);
}

function halfUp(value: number): number {
  return Math.floor(value + 0.5);
}
