import { textOf } from "../json-fields.ts";
import { parseTarget, type RedirectTarget } from "../links/redirect-target.ts";
import { never, nothing, type StepFacts } from "./step.ts";

export interface RedirectPayload {
  /** Never empty. */
  readonly destination: string;
  readonly conversionTracking: boolean;
  /** The destination, taken apart. */
  readonly target: RedirectTarget;
}

/** CLIENT_REDIRECT: an exit to another address. */
export const clientRedirect = {
  kind: "EXIT",
  nodeType: "ATOMIC",
  payload: "clientRedirect",
  trace: "redirect",
  hasPage: false,
  answeredBy: undefined,
  offersChoice: false,
  traced: undefined,
  list: undefined,
  urls: ["destination"],
  platforms: undefined,
  read(stored): RedirectPayload | undefined {
    const destination = textOf(stored.destination);
    if (destination === "") return undefined;
    const conversionTracking = stored.conversionTracking === true;
    return { destination, conversionTracking, target: parseTarget(destination) };
  },
  completed: "Redirected",
  brokenBecause: "the redirect has no destination: give it one",
  faultsOf: nothing,
  lookupsOf: nothing,
  skipsItself: never,
} as const satisfies StepFacts<RedirectPayload>;
