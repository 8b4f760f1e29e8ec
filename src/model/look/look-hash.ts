import { createHash } from "node:crypto";
import { defaultStyling } from "./page-theme.ts";

/** What is in the media files of a look: SHA-256 in hexadecimal, null where it has no file. */
export interface LookMedia {
  readonly cover: string | null;
  readonly badge: string | null;
}

/**
 * A hash of a stored styling that exactly the same looks have. Media count by what is in them. A value that is left out
 * is the same as its default.
 */
export function lookHash(styling: object, media: LookMedia): string {
  const { canvasCoverId: _, badgeId: __, ...values } = { ...defaultStyling, ...styling } as Values;
  return createHash("sha256")
    .update(JSON.stringify([bare(values), media.cover, media.badge]))
    .digest("hex");
}

type Values = Readonly<Record<string, unknown>>;

/** The value without what is empty, with its keys in one order. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, each]) => !isEmpty(each));
  return Object.fromEntries(
    kept.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, bare(each)]),
  );
}

function isEmpty(value: unknown): boolean {
  return (
    !value ||
    (typeof value === "string" && value.endsWith("_UNSPECIFIED")) ||
    (Array.isArray(value) && value.length === 0)
  );
}
