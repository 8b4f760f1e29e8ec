import { createHash } from "node:crypto";
import { fail, invalid } from "../errors.ts";
import { isUuid } from "../ids.ts";

/** The type of a list's sort key besides the id; `none` sorts by the id alone. */
export interface PageKeys {
  readonly time: Date;
  readonly text: string;
  readonly count: bigint;
  readonly none: undefined;
}

/** The last row of the previous page. */
export interface PageEdge<Kind extends keyof PageKeys> {
  readonly key: PageKeys[Kind];
  readonly id: string;
}

/**
 * One requested page: statements fetch `size + 1` rows after `after`, and `fillPage` takes as many as an answer holds.
 */
export interface Page<Kind extends keyof PageKeys> {
  readonly size: number;
  readonly after: PageEdge<Kind> | undefined;
  readonly keyKind: Kind;
  /** Identifies this list with its filters and its order. */
  readonly fingerprint: string;
}

/** The paging fields of every list request. */
export interface PageRequest {
  readonly pageSize: bigint;
  readonly pageToken: string;
  /** Another name of `pageToken`, which wins when both are given. Searches have no `cursor`. */
  readonly cursor?: string;
}

export interface PageRules<Kind extends keyof PageKeys> {
  /** The type of the sort key in the rows. */
  readonly key: Kind;
  /** The list's name, order and direction, such as `links name asc`: a token is valid only for the same. */
  readonly sort: string;
  /**
   * Everything else that decides which rows are in the list, including the tenant: plain objects, Dates and bigints
   * too.
   */
  readonly filters: unknown;
  /** The size when the request gives none; 100 by default. */
  readonly default?: number;
  /** Larger sizes are clamped to this; 1,000 by default. */
  readonly max?: number;
}

/**
 * Reads the size and start of a page. Throws INVALID_ARGUMENT for a negative size, INVALID_PAGE_TOKEN for a wrong
 * token.
 */
export function readPage<Kind extends keyof PageKeys>(
  { pageSize, pageToken, cursor = "" }: PageRequest,
  rules: PageRules<Kind>,
): Page<Kind> {
  if (pageSize < 0n) throw invalid([{ field: "pageSize", description: "must not be negative" }]);
  const { key: keyKind, max = 1_000, default: usual = 100 } = rules;
  const size = pageSize === 0n ? Math.min(usual, max) : pageSize > BigInt(max) ? max : Number(pageSize);
  const fingerprint = fingerprintOf([rules.sort, keyKind, rules.filters]);
  const token = pageToken || cursor;
  const after =
    token === ""
      ? undefined
      : readToken(token, keyKind, fingerprint, pageToken === "" ? "cursor" : "pageToken");
  return { size, after, keyKind, fingerprint };
}

type TokenKey = number | string | undefined;

/** Makes the token for the page after this row. */
export function nextPageToken<Kind extends keyof PageKeys>(
  { key, id }: PageEdge<Kind>,
  { fingerprint }: Page<Kind>,
): string {
  const k: TokenKey = key instanceof Date ? key.getTime() : typeof key === "bigint" ? key.toString() : key;
  return Buffer.from(JSON.stringify({ k, i: id, h: fingerprint })).toString("base64");
}

function readToken<Kind extends keyof PageKeys>(
  token: string,
  kind: Kind,
  fingerprint: string,
  field: keyof PageRequest,
): PageEdge<Kind> {
  const wrongToken = (fault: string) =>
    fail("INVALID_ARGUMENT", "INVALID_PAGE_TOKEN", `${field} ${fault}`, {
      fields: [{ field, description: fault }],
    });
  const fields = tokenFields(token);
  if (fields === undefined) throw wrongToken("is damaged: pass `nextPageToken` on unchanged");
  if (fields.get("h") !== fingerprint)
    throw wrongToken("belongs to another list, other filters or another sort order");
  const id = fields.get("i");
  const key = keyReaders[kind](fields.get("k"));
  if (typeof id !== "string" || !isUuid(id) || key === damaged)
    throw wrongToken("is damaged: pass `nextPageToken` on unchanged");
  return { key, id };
}

// A map instead of the parsed object, so that no field name reaches a prototype.
function tokenFields(token: string): Map<string, unknown> | undefined {
  try {
    // A plus sign that a client forgot to percent-encode in a query arrives as a space.
    const json: unknown = JSON.parse(Buffer.from(token.replaceAll(" ", "+"), "base64").toString("utf8"));
    return typeof json === "object" && json !== null ? new Map(Object.entries(json)) : undefined;
  } catch {
    return undefined;
  }
}

const damaged: unique symbol = Symbol("damaged");

/** 9999-12-31T23:59:59.999Z: PostgreSQL accepts later years, but JavaScript writes them in another form. */
const latestTime = 253_402_300_799_999;

type KeyReaders = { readonly [Kind in keyof PageKeys]: (json: unknown) => PageKeys[Kind] | typeof damaged };

const keyReaders: KeyReaders = {
  time: (json) =>
    typeof json === "number" && Number.isInteger(json) && json >= 0 && json <= latestTime
      ? new Date(json)
      : damaged,
  // PostgreSQL texts cannot hold NUL.
  text: (json) => (typeof json === "string" && !json.includes("\0") ? json : damaged),
  count: (json) =>
    typeof json === "string" && /^-?\d{1,19}$/.test(json) && BigInt.asIntN(64, BigInt(json)) === BigInt(json)
      ? BigInt(json)
      : damaged,
  none: (json) => (json === undefined ? undefined : damaged),
};

// The hash only has to reveal changed filters: a caller who forges it pages through the same rows of the same tenant.
function fingerprintOf(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("base64url").slice(0, 16);
}

function canonical(value: unknown): string {
  if (value instanceof Date) return `d${value.getTime()}`;
  if (typeof value === "bigint") return `n${value}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === undefined) return "u";
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join()}}`;
}
