import { endsWithPage, type StepKindOf } from "./step.ts";

/** THANK_YOU_PAGE: an exit with a closing text. */
export const thankYouPage: StepKindOf<"THANK_YOU_PAGE"> = {
  explain: () => endsWithPage,
  enter: ({ payload }) => ({ kind: "exit-page", data: { thankYouPage: { title: payload.title } } }),
};
