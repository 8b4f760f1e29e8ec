import { targetUrl } from "../../model/redirect-target.ts";
import { broken, type Step } from "./step.ts";

/** CLIENT_REDIRECT: sends the visitor to the destination, with the visitor's query and, when asked for, `lbid`. */
export const clientRedirect: Step = (step, { query, lbid }) => {
  if (step.action !== "CLIENT_REDIRECT") return broken;
  const { target } = step.payload;
  const conversionTracking = step.payload.conversionTracking && target.isWeb;
  return {
    kind: "redirect",
    to: targetUrl(target, query, conversionTracking ? lbid() : ""),
    conversionTracking,
  };
};
