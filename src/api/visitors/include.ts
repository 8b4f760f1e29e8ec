import type { Db } from "../../db/open.ts";
import { invalid } from "../../lib/errors.ts";
import type { VisitorRow } from "../resources/visitor.ts";
import type { EmbeddedObjects } from "./message.ts";
import { findEvents, findVisitedLinks, findVisitorDevices } from "./queries.ts";

const includes = ["devices", "events", "links"];

/** The objects that a request wants embedded. Throws INVALID_ARGUMENT for unknown names. */
export function readVisitorInclude(include: readonly string[]): ReadonlySet<string> {
  if (include.some((name) => !includes.includes(name)))
    throw invalid([{ field: "include", description: `must only name ${includes.join(", ")}` }]);
  return new Set(include);
}

/** Looks up what visitors embed: one statement for each kind of object, all at once. */
export async function embed(
  db: Db,
  workspaceId: string,
  visitors: readonly VisitorRow[],
  include: ReadonlySet<string>,
): Promise<EmbeddedObjects> {
  const ids = visitors.map(({ id }) => id);
  const asked = <Found>(
    name: string,
    find: (db: Db, workspaceId: string, ids: readonly string[]) => Found,
  ) => (include.has(name) && ids.length > 0 ? find(db, workspaceId, ids) : undefined);
  const [devices, events, links] = await Promise.all([
    asked("devices", findVisitorDevices),
    asked("events", findEvents),
    asked("links", findVisitedLinks),
  ]);
  return { devices, events, links };
}
