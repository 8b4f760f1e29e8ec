import { publishWorkspace, unpublishWorkspace } from "../../api/workspaces/enrollment.ts";
import { listEnrollmentRequests } from "../../api/workspaces/queries.ts";
import { deleteWorkspace, restoreWorkspace } from "../../db/end-workspaces.ts";
import type { Db } from "../../db/open.ts";
import { jobCalls } from "../../jobs/queue.ts";
import { isUuid } from "../../lib/ids.ts";
import type { Config } from "../../service/config.ts";
import { withDatabase } from "./operate.ts";

const now = () => new Date();

/** What an operator does to one workspace: it returns what to print, or undefined when there is no such workspace. */
type Deed = (db: Db, workspaceId: string) => Promise<string | undefined>;

/** What an operator can do to a workspace, by the second word of the command. */
const deeds = {
  async publish(db, id) {
    return (await publishWorkspace(db, id, now())) ? `workspace ${id} is public` : undefined;
  },
  async unpublish(db, id) {
    return (await unpublishWorkspace(db, id, now())) ? `workspace ${id} is private` : undefined;
  },
  async delete(db, id) {
    const ended = await deleteWorkspace(db, { workspaceId: id, at: now(), jobCalls });
    return ended.length === 0 ? undefined : `workspace ${id} is deleted; it can be restored for 30 days`;
  },
  async restore(db, id) {
    const lost = await restoreWorkspace(db, id, now());
    if (lost === undefined) return undefined;
    const domains = lost.length === 0 ? "" : `, without the domains that others have now: ${lost.join(", ")}`;
    return `workspace ${id} is restored${domains}`;
  },
} as const satisfies Record<string, Deed>;

/** The states in which a workspace can be, for the refusal of a deed that found none. */
const states = {
  publish: "living live",
  unpublish: "living",
  delete: "living",
  restore: "restorable",
} as const;

/** Does something to a workspace. Throws when there is no such workspace in a fitting state. */
export async function administer(
  config: Config,
  deed: keyof typeof deeds,
  workspaceId: string,
): Promise<string> {
  if (!isUuid(workspaceId)) throw new Error(`"${workspaceId}" is no workspace id`);
  return withDatabase(config, async ({ db }) => {
    const done = await deeds[deed](db, workspaceId);
    if (done === undefined) throw new Error(`there is no ${states[deed]} workspace ${workspaceId}`);
    return done;
  });
}

/** The workspaces that wait for becoming public, one JSON object per line, longest first. */
export function listWaiting(config: Config): Promise<string> {
  return withDatabase(config, async ({ db }) => {
    const rows = await listEnrollmentRequests(db);
    return rows.length === 0 ? "no workspace waits" : rows.map((row) => JSON.stringify(row)).join("\n");
  });
}
