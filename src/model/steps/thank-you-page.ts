import { type TitledPayload, titledOf } from "./reading.ts";
import { never, nothing, type StepFacts, unreadable } from "./step.ts";

/** THANK_YOU_PAGE: an exit with a closing text. */
export const thankYouPage = {
  kind: "EXIT",
  nodeType: "ATOMIC",
  payload: "thankYouPage",
  trace: "thankYouPage",
  hasPage: true,
  answeredBy: undefined,
  offersChoice: false,
  traced: undefined,
  list: undefined,
  urls: [],
  platforms: undefined,
  read: titledOf,
  completed: "Thank-you page shown",
  brokenBecause: unreadable,
  faultsOf: nothing,
  lookupsOf: nothing,
  skipsItself: never,
} as const satisfies StepFacts<TitledPayload>;
