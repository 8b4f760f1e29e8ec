import { mapInTurns } from "../../lib/limits/loop-turns.ts";
import type { Geography } from "../device/geography.ts";

/** Finds addresses in countries: the same ones in every process that has the same geography. */
export interface Addresses {
  /** Up to eight IPv4 addresses of a country; none when no network of it is known. */
  of(country: string): Promise<readonly string[]>;
}

const perCountryMax = 8;

/** So many addresses are looked at: half a second of work, in small turns, for a country that has hardly any. */
const probesMax = 250_000;
const probesAtOnce = 500;

/** Unicast addresses end at 224.0.0.0. Leaps of an odd length that 7 does not divide meet all of them once. */
const addressCount = 224 * 2 ** 24;
const leap = 2_322_869_719;

export function createAddresses({ placeOf }: Geography): Addresses {
  const found = new Map<string, string[]>();
  let probes = 0;
  let number = 0;

  function probe(): void {
    for (let end = probes + probesAtOnce; probes < end; probes++) {
      number = (number + leap) % addressCount;
      const address = [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255].join(".");
      const { country } = placeOf(address);
      const known = found.get(country) ?? [];
      if (country === "" || known.length === perCountryMax) continue;
      known.push(address);
      found.set(country, known);
    }
  }

  function* needed(country: string): Generator<undefined> {
    while ((found.get(country)?.length ?? 0) < perCountryMax && probes < probesMax) yield undefined;
  }

  return {
    async of(country) {
      await mapInTurns(needed(country), probe);
      return found.get(country) ?? [];
    },
  };
}
