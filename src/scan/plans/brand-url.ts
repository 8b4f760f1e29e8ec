import { entitlementOf, type WorkspaceFacts } from "../../model/plans/entitlement.ts";
import type { PlanTable } from "../../model/plans/plan-table.ts";

export interface BrandDeps {
  /** The plans of workspaces, which say whose pages name the service. */
  readonly terms: PlanTable;
  /** The address of the service. */
  readonly baseUrl: string;
  readonly now: () => Date;
}

/** Gives where the line leads that names the service at the end of a workspace's pages. Empty where there is no such line. */
export function createBrandUrl({ terms, baseUrl, now }: BrandDeps): (facts: WorkspaceFacts) => string {
  return (facts) => (entitlementOf(terms, facts, now()).brandFreePages ? "" : baseUrl);
}
