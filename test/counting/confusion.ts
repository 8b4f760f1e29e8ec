import { classifyUserAgent } from "../../src/scan/device/classify.ts";
import type { ListedAgent } from "./public-lists.ts";

/** Says whether a plain visit with this user agent is counted. */
export type IsCounted = (userAgent: string) => boolean;

/** The differences between the verdicts on a list's user agents and the list itself. */
export interface Confusion {
  readonly programs: number;
  /** Programs that were counted as people. */
  readonly programsCounted: number;
  readonly browsers: number;
  /** People who were not counted. */
  readonly browsersRefused: number;
}

/** The verdict by the rules of this check-out. */
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
