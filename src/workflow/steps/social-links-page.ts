import { parseTarget } from "../../model/links/redirect-target.ts";
import type { SocialLink, SocialLinksPayload } from "../../model/steps/social-links-page.ts";
import { linkName } from "../answer-fields.ts";
import type { TraceData } from "../walk-result.ts";
import { endsWithPage, notOffered, type StepKindOf } from "./step.ts";

/** SOCIAL_LINKS_PAGE: an exit with links to other places. The one that was pressed last is added to the trace. */
export const socialLinksPage: StepKindOf<"SOCIAL_LINKS_PAGE"> = {
  explain: () => endsWithPage,

  enter: ({ payload }) => ({ kind: "exit-page", data: dataOf(payload) }),

  submit({ payload }, answer) {
    const pressed = answer.get(linkName)?.[0];
    const link = payload.links.find(({ id }) => id === pressed);
    if (link === undefined) return notOffered;
    return {
      kind: "submitted",
      branchId: "",
      data: dataOf(payload, link),
      answers: [],
      choice: undefined,
      captures: false,
      reason: `${link.platform} is pressed`,
      to: parseTarget(link.url).url,
    };
  },
};

function dataOf(
  { title, description, displayStyle, links }: SocialLinksPayload,
  selectedLink?: SocialLink,
): TraceData {
  const selected = selectedLink && { selectedLink };
  return { socialLinks: { title, description, displayStyle, links, ...selected } };
}
