import { textOf } from "../json-fields.ts";
import { type TitledPayload, titledOf } from "./reading.ts";
import { never, nothing, type StepFacts, unreadable } from "./step.ts";

export interface PasswordPayload extends TitledPayload {
  /** The password as it is stored: sealed, in base64. Empty when none is set; then no attempt is right. */
  readonly password: string;
}

/** PASSWORD_VERIFY: a page that asks for a password. */
export const passwordVerify = {
  kind: "INTERACTION",
  nodeType: "ATOMIC",
  payload: "password",
  trace: "password",
  hasPage: true,
  answeredBy: "passwordMatches",
  offersChoice: false,
  traced: undefined,
  list: undefined,
  urls: [],
  platforms: undefined,
  read: (stored): PasswordPayload => ({ ...titledOf(stored), password: textOf(stored.password) }),
  completed: "Password accepted",
  brokenBecause: unreadable,
  faultsOf: ({ password }) =>
    password === "" ? ["no password is set, so nobody can get past: set one"] : [],
  lookupsOf: nothing,
  skipsItself: never,
} as const satisfies StepFacts<PasswordPayload>;
