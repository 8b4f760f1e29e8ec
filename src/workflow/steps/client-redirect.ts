import { targetUrl } from "../../model/links/redirect-target.ts";
import type { StepKindOf } from "./step.ts";

/**
 * CLIENT_REDIRECT: sends the visitor to the destination, with the visitor's query and, when the step says so, `lbid`.
 */
export const clientRedirect: StepKindOf<"CLIENT_REDIRECT"> = {
  explain: () => "the visitor is redirected, and the visit ends with it",

  enter({ payload }, { query, lbid }) {
    const { target } = payload;
    const conversionTracking = payload.conversionTracking && target.isWeb;
    const to = targetUrl(target, query, conversionTracking ? lbid() : "");
    return { kind: "redirect", to, conversionTracking };
  },
};
