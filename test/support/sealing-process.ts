import type pg from "pg";
import { sealWorkspace } from "../../src/analytics/segments/seal-workspace.ts";
import { openSession } from "../../src/analytics/segments/session.ts";

/*
 * Seals a workspace again and again, as a separate process, which tests kill:
 * `node sealing-process.ts '{"connection":{…},"workspaceId":"…","nowMs":…}'`. It prints a line for every round.
 */

interface Told {
  readonly connection: pg.ConnectionConfig;
  readonly workspaceId: string;
  readonly nowMs: number;
}

const { connection, workspaceId, nowMs }: Told = JSON.parse(process.argv[2] ?? "{}");
for (;;) {
  try {
    const session = await openSession(connection);
    try {
      const deps = { session, now: () => new Date(nowMs), settledMs: 0, openMax: 100 };
      for (;;) {
        await sealWorkspace(deps, workspaceId);
        process.stdout.write("sealed\n");
      }
    } finally {
      await session.close().catch(() => {});
    }
  } catch {
    // The database is away.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
