import { createRequire } from "node:module";
import { isIP } from "node:net";
import maxmind, { type Reader, type Response } from "maxmind";

/** The place of an address. An unknown field is empty, or 0 for the ASN. */
export type Place = {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string;
  readonly region: string;
  readonly city: string;
  /** IANA name. */
  readonly timezone: string;
  readonly isp: string;
  readonly asn: number;
};

/** Places by address. */
export type Geography = { placeOf(address: string): Place };

/** The place of an address about which nothing is known, such as a private one. */
export const nowhere: Place = Object.freeze({
  country: "",
  region: "",
  city: "",
  timezone: "",
  isp: "",
  asn: 0,
});

/** The countries of all allocated addresses, from the registries' own data (CC0), 8 MB. */
const countryDatabase = "@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb";

/**
 * Networks that belong to no country: private, loopback, link-local, shared (RFC 1918, 4193, 6598, 6890). The
 * registries' data has entries for some of them.
 */
const privateIPv4 =
  /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;
const privateIPv6 = /^(?:::1?$|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/i;

/**
 * Opens the country database that comes with the service and, when its path is given, a city database in MaxMind's
 * format: GeoIP2 or GeoLite2 City, or DB-IP City. Reads the ISP and ASN fields too, if the city database has them.
 * Throws when a file cannot be read. Look-ups are synchronous and read memory. Nothing is loaded before the first call.
 */
export async function openGeography(cityDatabase?: string): Promise<Geography> {
  const countries = await maxmind.open<CountryRecord>(
    createRequire(import.meta.url).resolve(countryDatabase),
  );
  const cities = cityDatabase ? await maxmind.open<CityRecord>(cityDatabase) : undefined;
  return { placeOf: (address) => placeIn(countries, cities, address) };
}

/** A response of the flat databases of ip-location-db. */
type CountryRecord = { country_code?: string } & Response;

/** The fields that we read of MaxMind's City, ISP and ASN layouts. DB-IP has the same layout. */
type CityRecord = {
  country?: { iso_code?: string };
  subdivisions?: { names?: { en?: string } }[];
  city?: { names?: { en?: string } };
  location?: { time_zone?: string };
  traits?: { isp?: string; autonomous_system_number?: number; autonomous_system_organization?: string };
  autonomous_system_number?: number;
  autonomous_system_organization?: string;
} & Response;

function placeIn(
  countries: Reader<CountryRecord>,
  cities: Reader<CityRecord> | undefined,
  address: string,
): Place {
  const version = isIP(address);
  if (version === 0 || (version === 4 ? privateIPv4 : privateIPv6).test(address)) return nowhere;
  const country = countries.get(address)?.country_code ?? "";
  if (!cities) return country === "" ? nowhere : { ...nowhere, country };
  const found = cities.get(address);
  if (!found) return country === "" ? nowhere : { ...nowhere, country };
  return {
    country: found.country?.iso_code ?? country,
    region: found.subdivisions?.[0]?.names?.en ?? "",
    city: found.city?.names?.en ?? "",
    timezone: found.location?.time_zone ?? "",
    isp:
      found.traits?.isp ??
      found.traits?.autonomous_system_organization ??
      found.autonomous_system_organization ??
      "",
    asn: found.traits?.autonomous_system_number ?? found.autonomous_system_number ?? 0,
  };
}
