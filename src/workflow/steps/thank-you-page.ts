import type { StepKindOf } from "./step.ts";

/** THANK_YOU_PAGE: an exit with a closing text. */
export const thankYouPage: StepKindOf<"THANK_YOU_PAGE"> = {
  enter: ({ payload }) => ({ kind: "exit-page", data: { thankYouPage: { title: payload.title } } }),
};
