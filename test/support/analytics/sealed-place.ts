import { sql } from "kysely";
import type pg from "pg";
import { sealSpan } from "../../../src/analytics/segments/seal-span.ts";
import { openSession } from "../../../src/analytics/segments/session.ts";
import type { Db } from "../../../src/db/open.ts";
import { randomFrom } from "../../fuzz/random.ts";
import { insertLink } from "../start-scan.ts";
import { storeWorld } from "./store-world.ts";
import { randomWorld, type World } from "./world.ts";

/** A workspace with the visits of a world. */
export interface Place {
  readonly workspaceId: string;
  readonly world: World;
}

/** Stores a random world with so many visits of three links. */
export async function newPlace(db: Db, seed: number, visits: number): Promise<Place> {
  const first = await insertLink(db);
  const { workspaceId } = first;
  const stored = [first, await insertLink(db, { workspaceId }), await insertLink(db, { workspaceId })];
  const links = stored.map(({ id }) => ({ id, name: id, shortlink: id, tags: [], isDeleted: false }));
  const world = randomWorld(randomFrom(seed), "Europe/Berlin", links, visits);
  await storeWorld(db, workspaceId, world);
  return { workspaceId, world };
}

/** Seals the visits up to a moment. */
export async function seal(
  connection: pg.ConnectionConfig,
  workspaceId: string,
  through: Date,
): Promise<void> {
  const session = await openSession(connection);
  try {
    await sealSpan(session, { workspaceId, from: new Date(0), to: through });
  } finally {
    await session.close();
  }
}

/** Makes one visitor another one, or erases them, as the rooms that do so leave it. */
export async function moveVisitor(
  db: Db,
  workspaceId: string,
  { from, to }: { readonly from: string; readonly to: string | undefined },
): Promise<void> {
  const visitors = db.selectFrom("visitors").where("workspace_id", "=", workspaceId);
  const numbers = await visitors.select(["id", "number"]).execute();
  const numberOf = (id: string | undefined) => numbers.find((each) => each.id === id)?.number ?? 0n;
  await db.transaction().execute(async (tx) => {
    await sql`update events set visitor_id = ${to ?? null}
      where workspace_id = ${workspaceId} and visitor_id = ${from}`.execute(tx);
    await sql`delete from visitors where workspace_id = ${workspaceId} and id = ${from}`.execute(tx);
    await sql`insert into moved_visitors (workspace_id, number, to_number)
      values (${workspaceId}, ${numberOf(from)}, ${numberOf(to)})`.execute(tx);
  });
}
