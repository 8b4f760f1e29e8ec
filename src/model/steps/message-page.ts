import { textOf } from "../json-fields.ts";
import { bare, integerOf, oneOf, type TitledPayload, titledOf } from "./reading.ts";
import { never, nothing, type StepFacts, unreadable } from "./step.ts";

export interface MessagePagePayload extends TitledPayload {
  readonly navigationType: "BUTTON" | "TIMER";
  /** Empty for the default word, in the visitor's language. */
  readonly buttonLabel: string;
  /** 1 to 300 when the page goes on by a TIMER. */
  readonly timerSeconds: number;
}

/** MESSAGE_PAGE: a text with one button, or a text that goes on by itself. */
export const messagePage = {
  kind: "INTERACTION",
  nodeType: "ATOMIC",
  payload: "messagePage",
  trace: "messagePage",
  hasPage: true,
  answeredBy: "proceed",
  offersChoice: false,
  traced: undefined,
  list: undefined,
  urls: [],
  platforms: undefined,
  read(stored): MessagePagePayload | undefined {
    const navigationType = oneOf(bare(stored.navigationType, "MESSAGE_PAGE_NAVIGATION_TYPE_"), [
      "BUTTON",
      "TIMER",
    ]);
    const timerSeconds = integerOf(stored.timerSeconds) ?? 0;
    if (navigationType === undefined) return undefined;
    if (navigationType === "TIMER" && (timerSeconds < 1 || timerSeconds > 300)) return undefined;
    return { ...titledOf(stored), navigationType, buttonLabel: textOf(stored.buttonLabel), timerSeconds };
  },
  completed: "Message read",
  brokenBecause: unreadable,
  faultsOf: nothing,
  lookupsOf: nothing,
  skipsItself: never,
} as const satisfies StepFacts<MessagePagePayload>;
