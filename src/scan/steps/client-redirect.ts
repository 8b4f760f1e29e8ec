import { targetUrl } from "../../model/redirect-target.ts";
import { broken, type Step } from "./step.ts";

/** CLIENT_REDIRECT: sends the visitor to the destination, with the visitor's query and, when asked for, `lbid`. */
export const clientRedirect: Step = ({ redirect }, { query, lbid }) => {
  if (redirect === undefined) return broken;
  const { target } = redirect;
  const conversionTracking = redirect.conversionTracking && target.isWeb;
  return {
    kind: "redirect",
    to: targetUrl(target, query, conversionTracking ? lbid() : ""),
    conversionTracking,
  };
};
