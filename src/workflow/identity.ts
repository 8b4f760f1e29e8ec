import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/min";

/** What identifies a person has one form, no matter whether a form or a program brings it. */

const emailLengthMax = 254;
/**
 * The form of HTML's own e-mail fields (HTML standard, 4.10.5.1.5), so that page and server refuse the same addresses.
 */
const emailForm =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** One e-mail address of at most 254 characters. Undefined for any other text. */
export function readEmail(text: string): string | undefined {
  return text.length <= emailLengthMax && emailForm.test(text) ? text : undefined;
}

/**
 * A phone number in E.164 form. Undefined for any other text. `country` gives the region of numbers without a country
 * code, which are no numbers without a region.
 */
export function readPhone(text: string, country?: () => string): string | undefined {
  const region = text.startsWith("+") ? undefined : regionOf(country?.() ?? "");
  const parsed = parsePhoneNumberFromString(text, region);
  return parsed?.isPossible() && parsed.ext === undefined ? parsed.number : undefined;
}

function regionOf(country: string): CountryCode | undefined {
  return isSupportedCountry(country) ? country : undefined;
}
