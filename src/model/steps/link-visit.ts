import { never, nothing, type StepFacts, unreadable } from "./step.ts";

/** LINK_VISIT: the entry of a workflow, with nothing to set. */
export const linkVisit = {
  kind: "ENTRY",
  nodeType: "ATOMIC",
  payload: "linkVisit",
  trace: "entryAccess",
  hasPage: false,
  answeredBy: undefined,
  offersChoice: false,
  traced: undefined,
  list: undefined,
  urls: [],
  platforms: undefined,
  read: (): object => ({}),
  completed: "Link followed",
  brokenBecause: unreadable,
  faultsOf: nothing,
  lookupsOf: nothing,
  skipsItself: never,
} as const satisfies StepFacts<object>;
