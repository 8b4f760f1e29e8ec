import { cleanText, clipBytes } from "../../lib/clean-text.ts";
import { AcmeFault } from "./fault.ts";

/** The kinds of challenges that this service answers. */
export type ChallengeKind = "http-01" | "tls-alpn-01";

export interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  /** Where certificates may be asked about before their renewal (RFC 9773). */
  readonly renewalInfo: string | undefined;
  readonly profiles: readonly string[];
  /** The names by which CAA records allow this authority. */
  readonly caaIdentities: readonly string[];
}

export interface Order {
  readonly status: string;
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate: string | undefined;
  readonly problem: Problem | undefined;
}

export interface Authorization {
  readonly status: string;
  readonly challenges: readonly Challenge[];
}

export interface Challenge {
  readonly kind: string;
  readonly url: string;
  readonly token: string;
  readonly problem: Problem | undefined;
}

/** A problem document (RFC 7807). */
export interface Problem {
  /** Without the prefix of ACME's problems. */
  readonly type: string;
  /** What the authority says, cut and cleaned: customers read it. */
  readonly detail: string;
}

/** When an authority wants a certificate renewed. */
export interface RenewalWindow {
  readonly start: Date;
  readonly end: Date;
}

type Json = Readonly<Record<string, unknown>>;

/** Lists in answers are cut to this length. */
const listMax = 100;
const detailBytesMax = 300;

export function readDirectory(body: string): Directory {
  const json = objectOf(body);
  const meta = isObject(json.meta) ? json.meta : {};
  return {
    newNonce: addressOf(json.newNonce),
    newAccount: addressOf(json.newAccount),
    newOrder: addressOf(json.newOrder),
    renewalInfo: json.renewalInfo === undefined ? undefined : addressOf(json.renewalInfo),
    profiles: isObject(meta.profiles) ? Object.keys(meta.profiles).slice(0, listMax) : [],
    caaIdentities: listOf(meta.caaIdentities).map(textOf),
  };
}

export function readOrder(body: string): Order {
  const json = objectOf(body);
  return {
    status: textOf(json.status),
    authorizations: listOf(json.authorizations).map(addressOf),
    finalize: addressOf(json.finalize),
    certificate: json.certificate === undefined ? undefined : addressOf(json.certificate),
    problem: problemOf(json.error),
  };
}

export function readAuthorization(body: string): Authorization {
  const json = objectOf(body);
  const challenges = listOf(json.challenges).flatMap((challenge) => {
    // Kinds that this service does not answer need not have a token.
    if (!isObject(challenge) || typeof challenge.token !== "string") return [];
    return [
      {
        kind: textOf(challenge.type),
        url: addressOf(challenge.url),
        token: tokenOf(challenge.token),
        problem: problemOf(challenge.error),
      },
    ];
  });
  return { status: textOf(json.status), challenges };
}

export function readRenewalWindow(body: string): RenewalWindow {
  const { suggestedWindow } = objectOf(body);
  const { start, end } = isObject(suggestedWindow) ? suggestedWindow : {};
  const window = { start: new Date(textOf(start)), end: new Date(textOf(end)) };
  // The times may be wrong: what is wrong is not to be planned with.
  if (!(window.start.getTime() < window.end.getTime())) throw unreadable();
  return window;
}

/** Reads a problem document; undefined when the body is none. */
export function readProblem(body: string): Problem | undefined {
  try {
    return problemOf(objectOf(body));
  } catch {
    return undefined;
  }
}

function problemOf(json: unknown): Problem | undefined {
  if (!isObject(json) || typeof json.type !== "string") return undefined;
  const { type, detail } = json;
  const clean = cleanText(typeof detail === "string" ? detail.slice(0, 4 * detailBytesMax) : "");
  return {
    type: type.slice(0, 100).replace(/^urn:ietf:params:acme:error:/, ""),
    detail: clipBytes(clean.replaceAll("\n", " "), detailBytesMax),
  };
}

function objectOf(body: string): Json {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (cause) {
    throw unreadable(cause);
  }
  if (!isObject(json)) throw unreadable();
  return json;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, listMax) : [];
}

function textOf(value: unknown): string {
  if (typeof value !== "string" || value.length > 1_000) throw unreadable();
  return value;
}

function addressOf(value: unknown): string {
  const text = textOf(value);
  if (!text.startsWith("https://") || !URL.canParse(text)) throw unreadable();
  return text;
}

// The token becomes a path and a key (RFC 8555, 8.3).
function tokenOf(value: string): string {
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(value)) throw unreadable();
  return value;
}

function unreadable(cause?: unknown): AcmeFault {
  return new AcmeFault("away", "The certificate authority gave an answer that cannot be read.", { cause });
}
