import { isIPv4, isIPv6 } from "node:net";
import type { Classification, VisitHeaders } from "./classify.ts";
import type { Place } from "./geography.ts";

/** Bare values of a workspace's data-collection level. */
export type CollectionLevel = "UNSPECIFIED" | "NONE" | "BASIC" | "ADVANCED";

/** What the service may keep of a visit. */
export type Collection = {
  readonly level: "NONE" | "BASIC" | "ADVANCED";
  /** Whether the service sets and reads the device cookie. */
  readonly cookie: boolean;
  /** Whether the service matches earlier visits. Without this, every visit counts as the first. */
  readonly match: boolean;
  /** Whether the service makes or attaches a visitor and saves form answers and captured attributes. */
  readonly visitor: boolean;
};

const collections = {
  NONE: { level: "NONE", cookie: false, match: false, visitor: false },
  BASIC: { level: "BASIC", cookie: true, match: true, visitor: true },
  ADVANCED: { level: "ADVANCED", cookie: true, match: true, visitor: true },
} as const satisfies Record<string, Collection>;

/**
 * Applies the workspace's level to a visit. The level is at most BASIC when the browser sends `DNT: 1` or `Sec-GPC: 1`.
 */
export function collect(level: CollectionLevel, headers: VisitHeaders): Collection {
  if (level === "NONE") return collections.NONE;
  if (level !== "ADVANCED" || headers.dnt === "1" || headers["sec-gpc"] === "1") return collections.BASIC;
  return collections.ADVANCED;
}

/** The facts of a device before the level is applied. `userAgent` and `language` are as the browser sent them. */
export type SeenDevice = {
  readonly classification: Classification;
  readonly place: Place;
  readonly address: string;
  readonly userAgent: string;
  readonly language: string;
};

/** The facts of a device that are kept of one visit. A field that the level forbids is empty, or 0 for the ASN. */
export type KeptDevice = {
  deviceType: Classification["deviceType"];
  deviceActor: Classification["deviceActor"];
  deviceActorName: string;
  deviceActorOrigin: string;
  deviceBrand: string;
  deviceName: string;
  browserName: string;
  browserVersion: string;
  browserLanguage: string;
  platformName: string;
  platformVersion: string;
  userAgent: string;
  ipAddress: string;
  country: string;
  region: string;
  city: string;
  timezone: string;
  isp: string;
  asn: number;
};

/** Longer values are cut. Ordinary browsers send neither a longer user agent nor a longer language. */
const userAgentLengthMax = 1_024;
const languageLengthMax = 100;

/** Applies a level to a device. Pure. */
export function keptDevice(seen: SeenDevice, { level }: Collection): KeptDevice {
  const { classification, place } = seen;
  const basic = level !== "NONE";
  const advanced = level === "ADVANCED";
  const atBasic = (value: string) => (basic ? value : "");
  const atAdvanced = (value: string) => (advanced ? value : "");
  return {
    deviceType: classification.deviceType,
    deviceActor: classification.deviceActor,
    deviceActorName: atBasic(classification.deviceActorName),
    deviceActorOrigin: atBasic(classification.deviceActorOrigin),
    deviceBrand: atBasic(classification.deviceBrand),
    deviceName: atAdvanced(classification.deviceName),
    browserName: atBasic(classification.browserName),
    browserVersion: atBasic(classification.browserVersion),
    browserLanguage: atBasic(seen.language.slice(0, languageLengthMax)),
    platformName: atBasic(classification.platformName),
    platformVersion: atBasic(classification.platformVersion),
    userAgent: atAdvanced(seen.userAgent.slice(0, userAgentLengthMax)),
    ipAddress: advanced ? seen.address : basic ? truncatedAddress(seen.address) : "",
    country: place.country,
    region: atBasic(place.region),
    city: atBasic(place.city),
    timezone: atAdvanced(place.timezone),
    isp: atAdvanced(place.isp),
    asn: advanced ? place.asn : 0,
  };
}

/** The network of an address: /24 of IPv4, /48 of IPv6; empty for anything else. Takes plain addresses without zone. */
export function truncatedAddress(address: string): string {
  if (isIPv4(address)) return `${address.slice(0, address.lastIndexOf("."))}.0`;
  if (!isIPv6(address)) return "";
  const [head = ""] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const network = [0, 1, 2].map((index) => Number.parseInt(groups[index] ?? "0", 16).toString(16));
  while (network.at(-1) === "0") network.pop();
  return `${network.join(":")}::`;
}
