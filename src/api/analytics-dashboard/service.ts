import { AnalyticsDashboardSchema } from "../../../gen/signpost/v1/analytics_dashboard_pb.js";
import {
  type AnalyticsDashboardService,
  DashboardScope,
  type GenerateWidgetSummaryRequest,
  type ListDashboardsRequest,
} from "../../../gen/signpost/v1/analytics_dashboard_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { faultsFrom } from "../../lib/errors.ts";
import { chosenIdFaults } from "../../lib/ids.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { callerOf, type Handlers, inTwoParts, withCheck } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { changeDashboard, createDashboard, noSuchDashboard, wantedOf } from "./change-dashboards.ts";
import { configFaults } from "./config-faults.ts";
import { toDashboard } from "./message.ts";
import { countDashboards, type DashboardFilter, listDashboards, lockDashboard } from "./queries.ts";
import { generateSummary, readSummary } from "./summarize.ts";
import { pictureFaults, widgetPicture } from "./widget-picture.ts";
import { plainSummary, type WriteSummary } from "./write-summary.ts";
import { deleteDashboard } from "./writes.ts";

/** The dashboards. Summaries are written by rules, unless something else writes them. */
export function analyticsDashboardService(
  given: Pick<Deps, "now" | "entitlements">,
  writeSummary: WriteSummary = async (numbers) => plainSummary(numbers),
): Handlers<typeof AnalyticsDashboardService> {
  const deps = { ...given, writeSummary };
  return {
    async listDashboards(request, context) {
      const filter = readFilter(request, callerOf(context).workspaceId);
      const page = readPage(request, { key: "time", sort: "dashboards newest first", filters: filter });
      const [rows, { total, hasLink }] = await Promise.all([
        listDashboards(context.db, filter, page),
        countDashboards(context.db, filter),
      ]);
      if (filter.linkId !== undefined && !hasLink) throw notFound("link", "linkId", request.linkId);
      const { records, nextPageToken } = await fillPage(page, {
        rows,
        edgeOf: ({ created_at, id }) => ({ key: created_at, id }),
        bytesOf: ({ bytes }) => bytes,
        recordOf: toDashboard,
        write: (dashboard) => context.writeRecord(AnalyticsDashboardSchema, dashboard),
      });
      return { dashboards: records, nextPageToken, totalCount: total };
    },

    createDashboard: withCheck(
      ({ id, config }, readRequest) => [...chosenIdFaults(id), ...configFaults(config, readRequest)],
      async (request, context) => ({ dashboard: await createDashboard(deps, request, context) }),
    ),

    updateDashboard: withCheck(
      (request, readRequest) => [
        ...faultsFrom(() => wantedOf(request)),
        ...configFaults(request.config, readRequest),
      ],
      async (request, context) => ({ dashboard: await changeDashboard(deps, request, context) }),
    ),

    async deleteDashboard({ id }, context) {
      await inTransaction(context.db, async (tx) => {
        const dashboard = await lockDashboard(tx, callerOf(context).workspaceId, id);
        if (dashboard === undefined) throw noSuchDashboard("id", id);
        await deleteDashboard(tx, dashboard);
      });
      return {};
    },

    async getWidgetSummary(request, context) {
      const result = await readSummary(deps, request, context);
      return result === undefined ? {} : { result };
    },

    // The numbers are asked, and the text is written, before the transaction.
    generateWidgetSummary: inTwoParts((request: GenerateWidgetSummaryRequest, context) =>
      generateSummary(deps, request, context),
    ),

    getWidgetPicture: withCheck(pictureFaults, (request, context) => widgetPicture(deps, request, context)),
  };
}

function readFilter({ linkId, scope }: ListDashboardsRequest, workspaceId: string): DashboardFilter {
  const scopes = {
    [DashboardScope.UNSPECIFIED]: "any",
    [DashboardScope.WORKSPACE]: "none",
    [DashboardScope.LINK]: "only",
  } as const;
  return {
    workspaceId,
    linkId: linkId.toLowerCase() || undefined,
    ofLinks: linkId === "" ? scopes[scope] : "any",
  };
}
