import { createHash } from "node:crypto";
import type { SimulatedDeviceType } from "../../model/simulated-visits.ts";

/** Somebody who does not exist, with a browser of their own. */
export interface Person {
  readonly userAgent: string;
  readonly language: string;
  readonly address: string;
  /** The device cookie of the browser. */
  readonly cookie: string;
}

/** Numbers from 0 to below 1 that a seed decides. */
export type Random = () => number;

/** Mulberry32: 32 bits of state are plenty for a few thousand choices. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Chooses from a list that is not empty. */
export function oneOf<Item>(items: readonly Item[], random: Random): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("there is nothing to choose from");
  return item;
}

export const mixedCountries: readonly string[] = ["US", "US", "DE", "GB", "FR", "ES", "IN", "BR", "JP", "CA"];

export const mixedDevices: readonly SimulatedDeviceType[] = [
  ...Array.from({ length: 7 }, () => "MOBILE" as const),
  ...Array.from({ length: 2 }, () => "DESKTOP" as const),
  "TABLET",
];

const chrome = (system: string, form = "") =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 ${form}Safari/537.36`;
const safari = (system: string, form = "") =>
  `Mozilla/5.0 (${system}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 ${form}Safari/605.1.15`;

const userAgents: Readonly<Record<SimulatedDeviceType, readonly string[]>> = {
  MOBILE: [
    safari("iPhone; CPU iPhone OS 18_5 like Mac OS X", "Mobile/15E148 "),
    chrome("Linux; Android 10; K", "Mobile "),
    "Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0",
  ],
  TABLET: [safari("iPad; CPU OS 17_6 like Mac OS X", "Mobile/15E148 "), chrome("Linux; Android 13; SM-X710")],
  DESKTOP: [
    chrome("Windows NT 10.0; Win64; x64"),
    `${chrome("Windows NT 10.0; Win64; x64")} Edg/138.0.0.0`,
    safari("Macintosh; Intel Mac OS X 10_15_7"),
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  ],
};

const languages: Readonly<Record<string, string>> = {
  US: "en-US,en;q=0.9",
  GB: "en-GB,en;q=0.9",
  DE: "de-DE,de;q=0.9,en;q=0.6",
  FR: "fr-FR,fr;q=0.9,en;q=0.6",
  ES: "es-ES,es;q=0.9,en;q=0.6",
  BR: "pt-BR,pt;q=0.9,en;q=0.6",
  JP: "ja-JP,ja;q=0.9,en;q=0.6",
};

export interface People {
  /** Which person of the sandbox this is, for their cookie. */
  readonly name: string;
  readonly countries: readonly string[];
  readonly deviceTypes: readonly SimulatedDeviceType[];
  /** Addresses by country, at least one for each. */
  readonly addresses: ReadonlyMap<string, readonly string[]>;
}

/** Invents a person. */
export function inventPerson({ name, countries, deviceTypes, addresses }: People, random: Random): Person {
  const country = oneOf(countries, random);
  return {
    userAgent: oneOf(userAgents[oneOf(deviceTypes, random)], random),
    language: languages[country] ?? "en;q=0.9",
    address: oneOf(addresses.get(country) ?? [], random),
    cookie: uuidOf(name),
  };
}

/** A UUID that a text decides, in the form of a random one. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
