import type { Classification } from "../../src/scan/device/classify.ts";

/** One request, or a burst of the same request, and its expected visit. */
export type Row = {
  readonly name: string;
  readonly method: "GET" | "HEAD";
  /** The query of the short link, with its `?`. */
  readonly query: string;
  /** The names are in lower case; without `user-agent` when the client sends none. */
  readonly headers: Readonly<Record<string, string>>;
  /** How often the request is sent. */
  readonly repeat: number;
  readonly expect: Expectation;
  /** The reason, for a reader who is not a programmer. */
  readonly why: string;
};

/** The expected facts of the visit, with a link whose workspace collects at level ADVANCED. */
export type Expectation = Pick<
  Classification,
  | "deviceType"
  | "deviceActor"
  | "deviceActorName"
  | "deviceActorOrigin"
  | "browserName"
  | "platformName"
  | "deviceBrand"
  | "counted"
  | "reason"
> & {
  /** Whether the visit leaves an event. */
  readonly recorded: boolean;
  /** The status of the answer of a link that redirects: 302, or 503 when the browser has to ask again. */
  readonly status: 302 | 503;
  readonly action: "SCAN" | "CLICK";
  /** The level applied. */
  readonly level: "BASIC" | "ADVANCED";
};

type Person = [
  name: string,
  deviceType: Expectation["deviceType"],
  browser: string,
  platform: string,
  brand: string,
  userAgent: string,
];
type Program = [name: string, actorName: string, origin: string, userAgent: string];

const plain = {
  deviceActorName: "",
  deviceActorOrigin: "",
  browserName: "",
  platformName: "",
  deviceBrand: "",
  deviceType: "UNKNOWN",
  action: "CLICK",
  level: "ADVANCED",
  status: 302,
} as const satisfies Partial<Expectation>;

/** People with browsers, one row per line of the table. */
export function people(why: string, lines: readonly Person[]): Row[] {
  return lines.map(([name, deviceType, browserName, platformName, deviceBrand, userAgent]) => ({
    name,
    method: "GET",
    query: "",
    headers: { "user-agent": userAgent },
    repeat: 1,
    expect: {
      ...plain,
      deviceType,
      deviceActor: "HUMAN",
      browserName,
      platformName,
      deviceBrand,
      recorded: true,
      counted: true,
      reason: "browser",
    },
    why,
  }));
}

/** Programs that name themselves and claim no device; BOT, or AGENT when the reason is `assistant`. */
export function declared(
  reason: "assistant" | "crawler" | "link preview" | "program",
  why: string,
  lines: readonly Program[],
): Row[] {
  return lines.map(([name, deviceActorName, deviceActorOrigin, userAgent]) => ({
    name,
    method: "GET",
    query: "",
    headers: { "user-agent": userAgent },
    repeat: 1,
    expect: {
      ...plain,
      deviceActor: reason === "assistant" ? "AGENT" : "BOT",
      deviceActorName,
      deviceActorOrigin,
      recorded: true,
      counted: false,
      reason,
    },
    why,
  }));
}

/** The same request with one difference. */
export function variant(
  row: Row,
  change: { name: string; why: string } & Partial<Pick<Row, "method" | "query" | "headers" | "repeat">>,
  expect: Partial<Expectation>,
): Row {
  return {
    ...row,
    ...change,
    headers: { ...row.headers, ...change.headers },
    expect: { ...row.expect, ...expect },
  };
}
