import { type Analytics, createAnalytics } from "../driver.ts";
import { attribute, attributeGroups, attributeValues } from "./attributes-queries.ts";
import { funnel } from "./funnel-queries.ts";
import { groups, series, topLinks } from "./groups-queries.ts";
import { hours, intervals, summary, visitors } from "./times-queries.ts";

/**
 * Answers from the tables that the visits are stored in, by plain SQL. It keeps nothing of its own: whatever it says is
 * right, and at once. It reads every visit of the scope.
 */
export function referenceAnalytics(now: () => Date): Analytics {
  const answers = {
    groups,
    series,
    topLinks,
    intervals,
    hours,
    visitors,
    funnel,
    attribute,
    attributeGroups,
    attributeValues,
    summary,
  };
  return createAnalytics(answers, now);
}
