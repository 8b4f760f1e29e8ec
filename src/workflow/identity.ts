import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/min";

/** What tells one person from another has one form, whoever brings it: forms and programs. */

const emailLengthMax = 254;
/** The form of HTML's own e-mail fields (HTML standard, 4.10.5.1.5), so that page and server refuse the same. */
const emailForm =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** One e-mail address, at most 254 characters; undefined for anything else. */
export function readEmail(text: string): string | undefined {
  return text.length <= emailLengthMax && emailForm.test(text) ? text : undefined;
}

/**
 * In E.164 form; undefined for what is no number. `country` is asked for the region of numbers without a country code,
 * which without it are none.
 */
export function readPhone(text: string, country?: () => string): string | undefined {
  const region = text.startsWith("+") ? undefined : regionOf(country?.() ?? "");
  const parsed = parsePhoneNumberFromString(text, region);
  return parsed?.isPossible() && parsed.ext === undefined ? parsed.number : undefined;
}

function regionOf(country: string): CountryCode | undefined {
  return isSupportedCountry(country) ? country : undefined;
}
