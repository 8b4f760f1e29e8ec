import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { DeviceType } from "../../../gen/signpost/v1/device_pb.js";
import type { MetricsService } from "../../../gen/signpost/v1/metrics_service_pb.js";
import type { Scope } from "../../analytics/question.ts";
import { monthOf } from "../../model/plans/cycle.ts";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { readScope } from "../resources/scope.ts";
import { preferredLinkType } from "./insight.ts";
import { countExits, countPossessions } from "./queries.ts";

const monthMs = 30 * 86_400_000;

export function metricsService({
  analytics,
  entitlements,
  now,
}: Pick<Deps, "analytics" | "entitlements" | "now">): Handlers<typeof MetricsService> {
  return {
    async getEventsMetric(request, context) {
      const scope = await readScope(request, context);
      const { answer, through } = await analytics(context.db, "summary", { scope });
      const { total, firstAt, lastAt, scored, scoreSum, country, city, deviceType } = answer;
      const eventsMetric = {
        totalEvents: total,
        ...(firstAt && { firstAt: timestampFromDate(firstAt) }),
        ...(lastAt && { lastAt: timestampFromDate(lastAt) }),
        ...(scored > 0 && { averageLeadScore: scoreSum / scored }),
        topCountry: country.top,
        topCity: city.top,
        // The database has the same names.
        topDeviceType: DeviceType[deviceType.top as keyof typeof DeviceType],
        totalCountries: country.values,
        totalCities: city.values,
        totalDeviceTypes: deviceType.values,
        dataThrough: timestampFromDate(through),
      };
      return { eventsMetric };
    },

    async getWorkspaceMetric(_request, context) {
      const { workspaceId } = callerOf(context);
      const all = { workspaceId, linkId: undefined, tagKey: undefined, from: undefined, to: undefined };
      const lastMonth = { ...all, from: new Date(now().getTime() - monthMs) };
      const count = async (scope: Scope) => {
        const starts = [scope.from ?? new Date(0)];
        const { answer, through } = await analytics(context.db, "intervals", { scope, starts });
        return { visits: answer[0] ?? 0, through };
      };
      const { limits, timezone } = await entitlements.of(workspaceId, context.db);
      const credits = limits.PLATFORM_CREDITS;
      const [possessions, ever, monthly] = await Promise.all([
        countPossessions(context.db, workspaceId, monthOf(now(), timezone)),
        count(all),
        count(lastMonth),
      ]);
      const workspaceMetric = {
        totalLinks: possessions.links,
        totalEvents: ever.visits,
        totalMonthlyEvents: monthly.visits,
        totalMembers: possessions.members,
        totalDirectories: possessions.directories,
        totalQrcodeTemplates: possessions.qrcode_templates,
        totalPageThemeTemplates: possessions.page_theme_templates,
        tokenCreditsLimit: typeof credits === "number" ? credits : 0,
        tokenCreditsUsed: possessions.credits_used,
        topupCreditsLimit: possessions.topup_bought,
        topupCreditsUsed: possessions.topup_used,
        dataThrough: timestampFromDate(ever.through < monthly.through ? ever.through : monthly.through),
      };
      return { workspaceMetric };
    },

    async getWorkspaceInsight(_request, context) {
      const counts = await countExits(context.db, callerOf(context).workspaceId);
      return { workspaceInsight: { preferredLinkType: preferredLinkType(counts) } };
    },
  };
}
