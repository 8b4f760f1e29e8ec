import { isbot } from "isbot";
import { lruCache } from "../../lib/lru-cache.ts";
import { ownText } from "../../lib/own-text.ts";
import { assistants, signatureAgents } from "./user-agents/assistants.ts";
import { crawlers } from "./user-agents/crawlers.ts";
import type { DeclaredProgram, Purpose } from "./user-agents/declared.ts";
import { linkPreviews } from "./user-agents/link-previews.ts";
import { nativeClients, scannerApps } from "./user-agents/native-clients.ts";
import { type ParsedAgent, parseUserAgent } from "./user-agents/parse.ts";
import { programs } from "./user-agents/programs.ts";

/** Bare values of the contract's `DeviceType`. */
export type DeviceType = "NATIVE" | "MOBILE" | "TABLET" | "DESKTOP" | "UNKNOWN";
/** Bare values of the contract's `DeviceActor`. */
export type DeviceActor = "HUMAN" | "BOT" | "AGENT" | "UNKNOWN";

/** Why a visit has its class, in the words of the counting contract in `test/counting`. */
export type ClassificationReason =
  | "browser"
  | "scanner app"
  | "native client"
  | "no user agent"
  | "unrecognised user agent"
  | Purpose
  | "prefetch";

/** Who asks, and whether the visit is counted. Strings are empty where nothing is known. */
export type Classification = Readonly<
  Omit<ParsedAgent, "formFactor"> & {
    deviceType: DeviceType;
    deviceActor: DeviceActor;
    /** Set for BOT and AGENT only. */
    deviceActorName: string;
    /** The operator; set for BOT and AGENT only, and empty for software that anybody may run. */
    deviceActorOrigin: string;
    /** Whether the event enters counters, allowances, analytics, scores and notifications. */
    counted: boolean;
    reason: ClassificationReason;
  }
>;

/** Request headers with lower-case names, as node:http gives them. */
export type VisitHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Classify one request; see `createClassifier`. */
export type Classify = (userAgent: string | undefined, headers: VisitHeaders) => Classification;

/**
 * Browsers send fewer than 450 characters, even with all that in-app browsers add. The bound keeps hostile headers
 * cheap.
 */
const userAgentLengthMax = 512;
const nameLengthMax = 60;
/** A browser whose name we do not know still names its engine. */
const browserEngine = /AppleWebKit\/|Gecko\/|Trident\/|Presto\//;

/**
 * A classifier that remembers the last `cacheSize` user agents (about 1 kB each). A user agent is only a claim: a
 * program that sends a browser's user agent counts as a person, and nothing in one request can prove otherwise.
 * Prefetches are not counted, because nobody has seen the answer yet. HEAD requests leave no visit and are not
 * classified.
 */
export function createClassifier(cacheSize = 5_000): Classify {
  const known = lruCache<Classification>(cacheSize);

  function remembered(userAgent: string): Classification {
    const hit = known.get(userAgent);
    if (hit) return hit;
    // The names and versions of the classification are cut out of this text.
    const own = ownText(userAgent);
    const fresh = classifyUserAgent(own);
    known.set(own, fresh);
    return fresh;
  }

  return (userAgent = "", headers) => {
    const byAgent = remembered(userAgent.slice(0, userAgentLengthMax).trim());
    const classified = headers["signature-agent"]
      ? bySignatureAgent(byAgent, headers["signature-agent"])
      : byAgent;
    if (isPrefetch(headers)) return { ...classified, counted: false, reason: "prefetch" };
    return classified;
  };
}

/** Classify by the user agent alone, which is how a plain GET is classified. Pure; 10–60 µs. */
export function classifyUserAgent(userAgent: string): Classification {
  const parsed = parseUserAgent(userAgent);
  const declared = findDeclared(userAgent);
  if (declared) return automatic(parsed, declared.purpose, declared.program);
  if (scannerApps.some((pattern) => pattern.test(userAgent))) return native(parsed, "HUMAN", "scanner app");
  if (nativeClients.some((pattern) => pattern.test(userAgent)))
    return native(parsed, "UNKNOWN", "native client");
  if (userAgent === "") return person(parsed, "UNKNOWN", "no user agent");
  const looksLikeBrowser =
    parsed.platformName !== "" && (parsed.browserName !== "" || browserEngine.test(userAgent));
  // Names such as "Mozilla/5.0" alone are bots to isbot; to us they are merely unparsable.
  if (isbot(userAgent) && (looksLikeBrowser || givenName(userAgent) !== "")) {
    return automatic(parsed, "crawler", { name: givenName(userAgent) || "Unnamed bot", origin: "" });
  }
  return looksLikeBrowser
    ? person(parsed, "HUMAN", "browser")
    : person(parsed, "UNKNOWN", "unrecognised user agent");
}

/**
 * In the order in which they are tried: preview fetchers also name other programs, so the more particular table comes
 * first.
 */
const tables: readonly { purpose: Purpose; programs: readonly DeclaredProgram[] }[] = [
  { purpose: "assistant", programs: assistants },
  { purpose: "link preview", programs: linkPreviews },
  { purpose: "crawler", programs: crawlers },
  { purpose: "program", programs },
];

function findDeclared(userAgent: string): { purpose: Purpose; program: DeclaredProgram } | undefined {
  for (const table of tables) {
    const program = table.programs.find(({ pattern }) => pattern.test(userAgent));
    if (program) return { purpose: table.purpose, program };
  }
  return undefined;
}

/**
 * The name of a product that calls itself a bot, in its own spelling: `FooBot` of `Mozilla/5.0 (compatible; FooBot/1.2;
 * …)`.
 */
function givenName(userAgent: string): string {
  const words = userAgent.match(/[\w.-]+/g) ?? [];
  const name = words.find((word) => /bot|crawl|spider|scan|fetch|preview|monitor|check/i.test(word));
  return name?.slice(0, nameLengthMax) ?? "";
}

function automatic(
  parsed: ParsedAgent,
  purpose: Purpose,
  program: { name: string; origin: string },
): Classification {
  const { formFactor, ...rest } = parsed;
  return Object.freeze({
    ...rest,
    // A program may name a phone's brand to get what that phone gets, but it is not a browser.
    browserName: "",
    browserVersion: "",
    deviceType: formFactor,
    deviceActor: purpose === "assistant" ? "AGENT" : "BOT",
    deviceActorName: program.name,
    deviceActorOrigin: program.origin,
    counted: false,
    reason: purpose,
  });
}

function native(
  parsed: ParsedAgent,
  deviceActor: "HUMAN" | "UNKNOWN",
  reason: ClassificationReason,
): Classification {
  return Object.freeze({ ...person(parsed, deviceActor, reason), deviceType: "NATIVE" });
}

function person(
  parsed: ParsedAgent,
  deviceActor: "HUMAN" | "UNKNOWN",
  reason: ClassificationReason,
): Classification {
  const { formFactor, ...rest } = parsed;
  return Object.freeze({
    ...rest,
    deviceType: formFactor,
    deviceActor,
    deviceActorName: "",
    deviceActorOrigin: "",
    counted: true,
    reason,
  });
}

/** Web Bot Auth: a program with a browser's user agent names its operator's host in the `Signature-Agent` header. */
function bySignatureAgent(byAgent: Classification, header: string | string[]): Classification {
  if (byAgent.deviceActorName !== "") return byAgent;
  const host = /^"?(?:https?:\/\/)?([a-z0-9.-]{1,253})/i.exec(String(header).trim())?.[1]?.toLowerCase();
  if (host === undefined) return byAgent;
  const agent = Object.hasOwn(signatureAgents, host) ? signatureAgents[host] : undefined;
  return {
    ...byAgent,
    deviceActor: agent ? "AGENT" : "BOT",
    deviceActorName: agent?.name ?? host.slice(0, nameLengthMax),
    deviceActorOrigin: agent?.origin ?? "",
    counted: false,
    reason: agent ? "assistant" : "crawler",
  };
}

/** `Sec-Purpose` is the standard; the others are what older Chrome, Safari and Firefox send. */
function isPrefetch(headers: VisitHeaders): boolean {
  return (
    says(headers["sec-purpose"], "prefetch") ||
    says(headers.purpose, "prefetch") ||
    says(headers["x-moz"], "prefetch") ||
    says(headers["x-purpose"], "preview") ||
    says(headers["x-purpose"], "prefetch")
  );
}

function says(header: string | string[] | undefined, word: string): boolean {
  return header !== undefined && String(header).toLowerCase().includes(word);
}
