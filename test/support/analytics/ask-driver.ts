import { create, type DescMethodUnary, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import type { Analytics } from "../../../src/analytics/driver.ts";
import { analyticsDataService } from "../../../src/api/analytics-data/service.ts";
import { metricsService } from "../../../src/api/metrics/service.ts";
import { timeSeriesService } from "../../../src/api/time-series/service.ts";
import { createEntitlements } from "../../../src/db/entitlements.ts";
import type { Db } from "../../../src/db/open.ts";
import { defaultPlans } from "../../../src/model/plans/plan-table.ts";
import type { Context } from "../../../src/rpc/handlers.ts";
import { callContext } from "../call-context.ts";

/** Answers an operation of the analytics, given as JSON, for a workspace. */
export type AskDriver = (
  workspaceId: string,
  method: DescMethodUnary,
  request: JsonObject,
) => Promise<JsonObject>;

/** Asks the handlers of the API with a driver of their own. No socket and no token stand between. */
export function askDriver(analytics: Analytics, db: Db, now: () => Date): AskDriver {
  const deps = { analytics, now, entitlements: createEntitlements({ plans: defaultPlans, now }) };
  const handlers: Readonly<Record<string, unknown>> = {
    ...analyticsDataService(deps),
    ...timeSeriesService(deps),
    ...metricsService(deps),
  };
  return async (workspaceId, method, request) => {
    // The names are those of the methods' own services, whose handlers take and give these messages.
    const handle = handlers[method.localName] as (
      request: object,
      context: Context,
    ) => Promise<Record<string, unknown>>;
    const answer = await handle(fromJson(method.input, request), callContext(db, workspaceId));
    const body = toJson(method.output, create(method.output, answer), { alwaysEmitImplicit: true });
    // Over REST, this answer is its one field. Every answer is an object.
    return (method.name === "GetEventsMetric" ? Object.values(body as object)[0] : body) as JsonObject;
  };
}
