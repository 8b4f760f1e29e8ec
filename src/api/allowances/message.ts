import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AllowanceSchema } from "../../../gen/signpost/v1/allowance_pb.js";
import { PlanLimitKey } from "../../../gen/signpost/v1/plan_limit_pb.js";
import type { Cycle } from "../../model/plans/cycle.ts";
import { type Entitlement, limitKinds } from "../../model/plans/entitlement.ts";
import type { SetLimit } from "../../model/plans/plan-table.ts";
import { limitKindOf } from "../resources/plan-limit.ts";
import type { NoticeRow, UsesRow } from "./queries.ts";

/** The limits whose use is counted, in the order of the contract. */
export const countedKeys = [
  "CUSTOM_DOMAINS",
  "TEAM_MEMBERS",
  "PLATFORM_CREDITS",
  "TRACKED_VISITS",
  "PUBLIC_API_CALLS",
] as const satisfies readonly SetLimit[];

export type CountedKey = (typeof countedKeys)[number];

/** The credits that the cheapest paid action costs: a message to the assistant, or a summary. */
const cheapestActionCost = 1;

/** Counts are 32-bit numbers in messages. */
const numberMax = 2_147_483_647;

export interface Known {
  readonly entitlement: Entitlement;
  readonly uses: UsesRow;
  readonly cycle: Cycle;
  /** The notices that the caller has dismissed; none for tokens. */
  readonly dismissed: readonly NoticeRow[];
}

interface Use {
  readonly used: number;
  /** What there is beside the limit. */
  readonly more: number;
  /** What has to be left so that the limit is not reached. */
  readonly needed: number;
  /** When the newest of a total was made. */
  readonly newestAt: Date | null;
  /** Everything that was counted in the cycle, which begins with the first of it. */
  readonly counted: number;
}

export function toAllowance(key: CountedKey, known: Known): MessageInitShape<typeof AllowanceSchema> {
  const { entitlement, cycle, uses } = known;
  const allowed = entitlement.limits[key];
  const use = useOf(key, uses, entitlement);
  const { used, more, needed, counted } = use;
  const left = typeof allowed === "number" ? Math.max(0, allowed - used) + more : undefined;
  const reached = left !== undefined && left < needed;
  return {
    key: PlanLimitKey[key],
    kind: limitKindOf(key, allowed),
    used: narrow(used),
    ...(typeof allowed === "number" && { limit: allowed, remaining: narrow(left ?? 0) }),
    reached,
    ...(limitKinds[key] === "MONTHLY" && counted > 0 && cycleFields(cycle)),
    noticeDismissed: isDismissed(key, known, { reached, newestAt: use.newestAt }),
    ...(key === "PLATFORM_CREDITS" && { cheapestActionCost }),
    ...(key === "TRACKED_VISITS" && {
      lockedCount: narrow(Number(uses.locked)),
      lockedTotalCount: narrow(Number(uses.locked_total)),
      recordedCount: narrow(Number(uses.visits)),
    }),
  };
}

function useOf(key: CountedKey, uses: UsesRow, { linkCost }: Entitlement): Use {
  const plain = (used: bigint, newestAt: Date | null = null): Use => ({
    used: Number(used),
    more: 0,
    needed: 1,
    newestAt,
    counted: Number(used),
  });
  switch (key) {
    case "CUSTOM_DOMAINS":
      return plain(uses.domains, uses.newest_domain_at);
    case "TEAM_MEMBERS":
      return plain(uses.members, uses.newest_member_at);
    case "PLATFORM_CREDITS":
      return {
        ...plain(uses.credits + uses.links * BigInt(linkCost)),
        more: Number(uses.topup_left),
        needed: cheapestActionCost,
      };
    case "TRACKED_VISITS":
      return { ...plain(uses.visits - uses.locked), counted: Number(uses.visits) };
    case "PUBLIC_API_CALLS":
      return plain(uses.api_calls);
  }
}

function cycleFields({ start, end, resetsOn }: Cycle): MessageInitShape<typeof AllowanceSchema> {
  return {
    cycleStartAt: timestampFromDate(start),
    cycleEndAt: timestampFromDate(new Date(end.getTime() - 1_000)),
    resetsOn: { year: resetsOn.year, month: resetsOn.month, day: resetsOn.day },
  };
}

/**
 * A notice of a total stays hidden until the total is no longer reached. Making another record needs room, so a record
 * that is newer than the dismissal proves that there was some in between.
 */
function isDismissed(
  key: CountedKey,
  { dismissed, cycle }: Known,
  { reached, newestAt }: { readonly reached: boolean; readonly newestAt: Date | null },
): boolean {
  const notice = dismissed.find(({ limit_key }) => limit_key === key);
  if (notice === undefined) return false;
  if (limitKinds[key] === "MONTHLY") return notice.cycle === cycle.month;
  return reached && (newestAt === null || newestAt <= notice.dismissed_at);
}

function narrow(count: number): number {
  return Math.min(count, numberMax);
}
