import { lruCache } from "../../lib/lru-cache.ts";
import { ownText } from "../../lib/own-text.ts";
import { type AskedHow, askedHow, isHeadless } from "./asked-how.ts";
import { assistants, signatureAgents } from "./user-agents/assistants.ts";
import { isAutomaticBrowser, isAutomaticClient, isProgram } from "./user-agents/automatic.ts";
import { crawlers } from "./user-agents/crawlers.ts";
import type { DeclaredProgram, Purpose } from "./user-agents/declared.ts";
import { givenName } from "./user-agents/given-name.ts";
import { linkPreviews } from "./user-agents/link-previews.ts";
import { nativeClients, scannerApps } from "./user-agents/native-clients.ts";
import { type ParsedAgent, parseUserAgent } from "./user-agents/parse.ts";
import { programs } from "./user-agents/programs.ts";
import { isUnusualBrowser } from "./user-agents/unusual-browsers.ts";
import { withHints } from "./with-hints.ts";

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
  | Exclude<AskedHow, "visit">;

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

/** Classifies one request; see `createClassifier`. */
export type Classify = (userAgent: string | undefined, headers: VisitHeaders) => Classification;

/** Browsers send fewer than 450 characters, even in-app browsers. The bound keeps hostile user agents cheap. */
const userAgentLengthMax = 1_024;
const nameLengthMax = 60;
/** A browser whose name we do not know still names its engine. */
const browserEngine = /AppleWebKit\/|Gecko\/|Trident\/|Presto\//;
/** A prefix that careless programs and people's proxies put before a user agent. */
const wrapping = /^["(]{0,2}(?:user-agent\s{0,3}[:,]?\s{0,3})?/i;

/**
 * Makes a classifier that remembers the last `cacheSize` user agents (about 1 kB each). A user agent is only a claim. A
 * program that sends a browser's user agent is counted as a person, and nothing in one request can prove otherwise.
 *
 * A request that is made in advance, or for a part of another page, is not counted, because nobody has opened the link.
 * A HEAD request leaves no visit, so it is not counted either.
 */
export function createClassifier(cacheSize = 5_000): Classify {
  const known = lruCache<Classification>(cacheSize);

  function remembered(userAgent: string): Classification {
    const hit = known.get(userAgent);
    if (hit) return hit;
    // The classification's names and versions are slices of this text, so the text must hold nothing else in memory.
    const own = ownText(userAgent);
    const fresh = classifyUserAgent(own);
    known.set(own, fresh);
    return fresh;
  }

  return (userAgent = "", headers) => {
    const cut = userAgent.slice(0, userAgentLengthMax).trim();
    const classified = byHeaders(remembered(cut), cut, headers);
    if (!classified.counted) return classified;
    const how = askedHow(headers);
    return how === "visit" ? classified : { ...classified, counted: false, reason: how };
  };
}

/** Classifies by the user agent alone, as for a plain GET. Pure; takes 10–60 µs. */
export function classifyUserAgent(sent: string): Classification {
  const userAgent = sent.replace(wrapping, "");
  const parsed = parseUserAgent(userAgent);
  const declared = findDeclared(userAgent);
  if (declared) return automatic(parsed, declared.purpose, declared.program);
  if (scannerApps.some((pattern) => pattern.test(userAgent))) return native(parsed, "HUMAN", "scanner app");
  if (nativeClients.some((pattern) => pattern.test(userAgent)))
    return isAutomaticClient(userAgent)
      ? automatic(parsed, "program", unlisted(userAgent))
      : native(parsed, "UNKNOWN", "native client");
  if (userAgent === "") return person(parsed, "UNKNOWN", "no user agent");
  const isOld = isUnusualBrowser(userAgent);
  const isBrowser = isOld || looksLikeBrowser(userAgent, parsed);
  if (isBrowser ? isAutomaticBrowser(userAgent, { model: parsed.deviceName, isOld }) : isProgram(userAgent))
    return automatic(parsed, "crawler", unlisted(userAgent));
  return isBrowser
    ? person(parsed, "HUMAN", "browser")
    : person(parsed, "UNKNOWN", "unrecognised user agent");
}

function unlisted(userAgent: string) {
  return { name: givenName(userAgent) || "Unnamed bot", origin: "" };
}

/**
 * The tables in the order in which they are tried. Preview fetchers also name other programs, so the more particular
 * table comes first.
 */
const tables: readonly { purpose: Purpose; programs: readonly DeclaredProgram[] }[] = [
  { purpose: "assistant", programs: assistants },
  { purpose: "link preview", programs: linkPreviews },
  { purpose: "crawler", programs: crawlers },
  { purpose: "program", programs },
];

/**
 * Matches every user agent that a table knows. Most come from people, and one expression instead of 180 saves 8 µs
 * each.
 */
const declaredForm = new RegExp(
  tables.flatMap((table) => table.programs.map(({ pattern }) => pattern.source)).join("|"),
  "i",
);

function findDeclared(userAgent: string): { purpose: Purpose; program: DeclaredProgram } | undefined {
  if (!declaredForm.test(userAgent)) return undefined;
  for (const table of tables) {
    const program = table.programs.find(({ pattern }) => pattern.test(userAgent));
    if (program) return { purpose: table.purpose, program };
  }
  return undefined;
}

function looksLikeBrowser(userAgent: string, { platformName, browserName }: ParsedAgent): boolean {
  return platformName !== "" && (browserName !== "" || browserEngine.test(userAgent));
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

/**
 * Corrects the class by headers of programs that send a browser's user agent, and by a browser's hints. What a class
 * takes from headers is not remembered, so no header can change the class of other requests.
 */
function byHeaders(byAgent: Classification, userAgent: string, headers: VisitHeaders): Classification {
  if (byAgent.deviceActorName !== "") return byAgent;
  const { "signature-agent": signature, "sec-ch-ua": brands } = headers;
  if (signature !== undefined) return bySignatureAgent(byAgent, signature);
  return isHeadless(brands) ? { ...byAgent, ...headlessChrome } : withHints(byAgent, userAgent, headers);
}

const headlessChrome = {
  deviceActor: "BOT",
  deviceActorName: "Headless Chrome",
  deviceActorOrigin: "",
  browserName: "",
  browserVersion: "",
  counted: false,
  reason: "program",
} as const satisfies Partial<Classification>;

/** A dictionary of `label="https://host"`, or one such address alone, as earlier drafts had it. */
const signatureHost =
  /^(?:[a-z*][a-z0-9_.*-]{0,63}=)?"?(?:https?:\/\/)?([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,9})/i;

/** Web Bot Auth: a program with a browser's user agent names its operator's host in a header of its own. */
function bySignatureAgent(byAgent: Classification, header: string | string[]): Classification {
  const host = signatureHost.exec(String(header).trim())?.[1]?.toLowerCase();
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

/** ACTION_SCAN when the query has `qr` bare or empty, which is what QR images encode; `qr=<value>` is a click. */
export function actionOf(query: URLSearchParams): "SCAN" | "CLICK" {
  return query.get("qr") === "" ? "SCAN" : "CLICK";
}
