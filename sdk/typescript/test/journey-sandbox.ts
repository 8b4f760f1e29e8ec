import assert from "node:assert/strict";
import { type Client, createClient } from "signpost-client";
import { given, refusalOf } from "./journey-support.ts";

/** Makes a sandbox, lets invented people visit a link in it, and deletes it. */
export async function playInSandbox({ sandboxes, workspaces }: Client): Promise<void> {
  const { sandbox, accessToken } = await sandboxes.create({ name: "Journey" });
  const { id } = given(sandbox);
  const listed = (await sandboxes.list({})).sandboxes.map((each) => each.id);
  assert(listed.includes(id));
  assert((await workspaces.getWorkspace({ id })).workspace?.isSandbox);
  const inside = createClient(process.env.SIGNPOST_URL ?? "", given(accessToken));
  const { link } = await inside.links.create({ destination: "https://example.com/sandbox" });
  const linkId = given(link).id;
  const simulated = await sandboxes.simulateVisits({ id, count: 5, seed: 1, linkIds: [linkId] });
  assert.deepEqual([simulated.visitCount, simulated.eventIds.length], [5, 5]);
  const { json } = await inside.events.listEvents({ linkId });
  assert.equal(json?.events.length, 5);
  const refused = await refusalOf(inside.sandboxes.create({}));
  assert.equal(refused.reason, "LIVE_CREDENTIAL_REQUIRED");
  await sandboxes.delete({ id });
  assert(!(await sandboxes.list({})).sandboxes.some((each) => each.id === id));
}
