import { within } from "../lib/within.ts";

/** Where a sign-in comes from, as the request says it. */
export interface SignInOrigin {
  readonly address: string;
  /** The header `Accept-Language`. */
  readonly languages: string | undefined;
}

/** The country (ISO 3166-1 alpha-2) and the time zone (IANA) of an address. What is not known is empty. */
export type FindPlace = (address: string) => Promise<{ readonly country: string; readonly timezone: string }>;

/** What is kept of the origin of a member's last sign-in. What is not known is empty. */
export interface LastKnown {
  readonly last_known_country: string;
  readonly last_known_ip: string;
  readonly last_known_language: string;
  readonly last_known_timezone: string;
}

/** The first look-up loads the places. A sign-in goes on without them when that takes longer. */
const patienceMs = 500;
const nowhere = { country: "", timezone: "" };

export async function lastKnownOf(
  { address, languages }: SignInOrigin,
  findPlace: FindPlace,
): Promise<LastKnown> {
  const { country, timezone } = await within(patienceMs, () => findPlace(address)).catch(() => nowhere);
  return {
    last_known_country: country,
    last_known_ip: address,
    last_known_language: firstLanguage(languages),
    last_known_timezone: timezone,
  };
}

/** BCP 47 recommends room for 35 characters. */
const tagLengthMax = 35;
const tagForm = /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i;

/** The language that stands first in `Accept-Language`; empty when there is none, or when it is no language tag. */
function firstLanguage(header = ""): string {
  const [first = ""] = header.slice(0, 2 * tagLengthMax).split(/[,;]/, 1);
  const tag = first.trim();
  return tag.length <= tagLengthMax && tagForm.test(tag) ? tag : "";
}
