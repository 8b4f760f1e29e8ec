import { PreferredLinkType } from "../../../gen/signpost/v1/metric_pb.js";
import type { StepAction } from "../../model/steps/kinds.ts";
import type { ExitCount } from "./queries.ts";

const types: Partial<Record<StepAction, PreferredLinkType>> = {
  CLIENT_REDIRECT: PreferredLinkType.URL,
  CONTACT_CARD: PreferredLinkType.CONTACT_CARD,
  SOCIAL_LINKS_PAGE: PreferredLinkType.SOCIAL_LINKS_PAGE,
};

/** The type of at least 60 percent of the links. A link whose exits differ has no type, nor has a thank-you page. */
export function preferredLinkType(counts: readonly ExitCount[]): PreferredLinkType {
  const all = counts.reduce((sum, { links }) => sum + links, 0);
  if (all === 0) return PreferredLinkType.URL;
  const most = counts.find(({ links }) => links * 100 >= all * 60)?.action;
  return (most && types[most]) ?? PreferredLinkType.MIX;
}
