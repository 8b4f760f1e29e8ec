import { VisitorAttributeType } from "../../../gen/signpost/v1/visitor_pb.js";
import type { VisitorsService } from "../../../gen/signpost/v1/visitors_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { fail, invalid } from "../../lib/errors.ts";
import { createArrivals } from "../../lib/limits/arrivals.ts";
import { createMissLimit } from "../../lib/limits/miss-limit.ts";
import { callerOf, type Handlers, inTwoParts, withCheck } from "../../rpc/handlers.ts";
import { createPageCache } from "../../visitors/pages/page-cache.ts";
import { lockVisitors } from "../../visitors/visitor-moves.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { prepareIdentify } from "./identify-visitor.ts";
import { embed, listVisitorsPage } from "./list-visitors.ts";
import { toVisitor } from "./message.ts";
import { findVisitor, listAttributeKeys } from "./queries.ts";
import { filterFaults, isReservedName, valueFaults } from "./rules.ts";
import { changeVisitor } from "./update-visitor.ts";
import { deleteAttributes, deleteVisitor, updateVisitor } from "./writes.ts";

/** How many bytes of visitors' columns a process keeps for lists that are asked for again. */
const cacheBytesMax = 64 << 20;

export function visitorsService(
  deps: Pick<Deps, "entitlements" | "jobCall" | "now" | "shortUrl">,
): Handlers<typeof VisitorsService> {
  const pages = createPageCache(cacheBytesMax);
  const misses = createMissLimit({ nowMs: () => deps.now().getTime() });
  const arrivals = createArrivals({ misses });
  return {
    identify: withCheck(
      ({ visitor }) => valueFaults(visitor),
      inTwoParts((request, context) => prepareIdentify({ ...deps, arrivals }, request, context)),
    ),
    list: (request, context) => listVisitorsPage({ ...deps, pages }, request, context),
    search: withCheck(
      ({ attributeFilters }) => filterFaults(attributeFilters),
      (request, context) => listVisitorsPage({ ...deps, pages }, request, context),
    ),
    update: withCheck(
      ({ visitor }) => valueFaults(visitor),
      (request, context) => changeVisitor(deps, request, context),
    ),

    async get({ id, include }, context) {
      const { workspaceId } = callerOf(context);
      const row = await findVisitor(context.db, workspaceId, id);
      if (row === undefined) throw notFound("visitor", "id", id);
      const embedded = await embed(deps, context, [row], new Set(include));
      return { visitor: toVisitor(row, embedded, deps.shortUrl) };
    },

    async delete({ id }, context) {
      const { workspaceId } = callerOf(context);
      const deleted = await inTransaction(context.db, (tx) =>
        deleteVisitor(tx, deps.jobCall, { workspaceId, id, at: deps.now() }),
      );
      if (!deleted) throw notFound("visitor", "id", id);
      return { success: true };
    },

    async deleteAttribute({ id, attributeKey }, context) {
      const { workspaceId } = callerOf(context);
      return inTransaction(context.db, async (tx) => {
        const [visitor] = await lockVisitors(tx, workspaceId, [id]);
        if (visitor === undefined) throw notFound("visitor", "id", id);
        if ((await deleteAttributes(tx, workspaceId, visitor.id, [attributeKey])) === 0n) {
          // The visitor has no custom attribute of this name, so the caller means the reserved one.
          if (isReservedName(attributeKey))
            throw invalid([
              {
                field: "attributeKey",
                description: "is a reserved attribute: clear it with an update of the visitor",
              },
            ]);
          throw fail("NOT_FOUND", "NOT_FOUND", `attributeKey: the visitor has no attribute ${attributeKey}`);
        }
        await updateVisitor(tx, workspaceId, visitor.id, { updated_at: deps.now() });
        return { success: true };
      });
    },

    async listAttributeKeys({ linkId }, context) {
      const found = await listAttributeKeys(context.db, callerOf(context).workspaceId, linkId || undefined);
      if (found === undefined) throw notFound("link", "linkId", linkId);
      return {
        attributeKeys: found.map(({ key }) => key),
        attributes: found.map(({ key, type }) => ({ key, type: VisitorAttributeType[type] })),
      };
    },
  };
}
