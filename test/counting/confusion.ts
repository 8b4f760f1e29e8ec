import { classifyUserAgent } from "../../src/scan/device/classify.ts";
import type { ListedAgent } from "./public-lists.ts";

/** Says whether a plain visit with this user agent is counted. */
export type IsCounted = (userAgent: string) => boolean;

/** What becomes of the user agents of a list, against what the list says of them. */
export interface Confusion {
  readonly programs: number;
  /** Programs that were counted as people. */
  readonly programsCounted: number;
  readonly browsers: number;
  /** People who were not counted. */
  readonly browsersRefused: number;
}

/** The rules of this tree. */
export const isCountedHere: IsCounted = (userAgent) => classifyUserAgent(userAgent).counted;

/** Compares a verdict with the lists. */
export function confusionOf(agents: readonly ListedAgent[], isCounted: IsCounted): Confusion {
  const programs = agents.filter(({ isProgram }) => isProgram);
  const browsers = agents.filter(({ isProgram }) => !isProgram);
  return {
    programs: programs.length,
    programsCounted: programs.filter(({ userAgent }) => isCounted(userAgent)).length,
    browsers: browsers.length,
    browsersRefused: browsers.filter(({ userAgent }) => !isCounted(userAgent)).length,
  };
}
