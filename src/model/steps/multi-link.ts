import { objectsOf, textOf } from "../json-fields.ts";
import { ordered, type TitledPayload, titledOf } from "./reading.ts";
import { never, nothing, type StepFacts } from "./step.ts";

export interface MultiLinkButton {
  readonly id: string;
  readonly label: string;
  readonly order: number;
}

export interface MultiLinkPayload extends TitledPayload {
  /** At least one. */
  readonly buttons: readonly MultiLinkButton[];
}

/** MULTI_LINK: a page of buttons, each of which is a branch. */
export const multiLink = {
  kind: "INTERACTION",
  nodeType: "COMPOSITE",
  payload: "multiLink",
  trace: "multiLink",
  hasPage: true,
  answeredBy: "button",
  offersChoice: true,
  traced: { list: "availableButtons", label: "label", chosen: "selectedButton" },
  list: { name: "buttons", branch: { id: "id", label: "label", isOrdered: true } },
  urls: [],
  platforms: undefined,
  read(stored): MultiLinkPayload | undefined {
    const buttons = ordered(objectsOf(stored.buttons)).map(({ id, label, order }) => {
      return { id: textOf(id), label: textOf(label), order };
    });
    return buttons.length === 0 ? undefined : { ...titledOf(stored), buttons };
  },
  completed: "Button pressed",
  brokenBecause: "the page has no buttons: add one",
  faultsOf: nothing,
  lookupsOf: nothing,
  skipsItself: never,
} as const satisfies StepFacts<MultiLinkPayload>;
