import assert from "node:assert/strict";
import type { Client } from "signpost-client";
import { PlanLimitKey } from "signpost-client/v1/plan_limit";
import { given, refusalOf } from "./journey-support.ts";

/** Names the workspace, makes it public, and reads what it may use. Returns its id. */
export async function openWorkspace(
  { workspaces, allowances, pricing }: Client,
  slug: string,
): Promise<string> {
  const { id } = given((await workspaces.getMyWorkspace({})).workspace);
  assert.equal((await workspaces.getWorkspace({ id })).workspace?.id, id);
  const early = await refusalOf(workspaces.requestEnrollment({}));
  assert.equal(early.reason, "WORKSPACE_NOT_READY");
  const wanted = { name: "Journey", slug, description: "Walked by a client" };
  assert.equal((await workspaces.update(wanted)).workspace?.slug, slug);
  const masked = { name: "Renamed", description: "ignored", updateMask: { paths: ["name"] } };
  const { workspace } = await workspaces.update(masked);
  assert.deepEqual([workspace?.name, workspace?.description], ["Renamed", wanted.description]);
  await workspaces.updateOriginInquiry({ originInquiry: "a friend" });
  await workspaces.updateOriginPurpose({ originPurpose: "menus" });
  await workspaces.requestEnrollment({ message: "please" });
  const { publicWorkspace } = await workspaces.publicGetWorkspace({ slug });
  assert.equal(publicWorkspace?.name, "Renamed");

  const { plans } = await pricing.listPlans({});
  const { plan, allowances: counted } = await allowances.list({});
  assert(plans.some((each) => each.id === plan));
  assert(counted.some(({ key }) => key === PlanLimitKey.TRACKED_VISITS));
  return id;
}

/** Deletes the workspace, after which its token is refused. */
export async function closeWorkspace({ workspaces }: Client): Promise<void> {
  await workspaces.delete({});
  const refused = await refusalOf(workspaces.getMyWorkspace({}));
  assert.equal(refused.code, "UNAUTHENTICATED");
}
