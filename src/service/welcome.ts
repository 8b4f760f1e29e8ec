import { sql } from "kysely";
import { lockClasses } from "../db/locks.ts";
import { inTransaction } from "../db/open.ts";
import { greeting, keepCredentials, newPassword, reminder } from "./first-start.ts";
import type { Parts } from "./roles/parts.ts";
import type { Surroundings } from "./surroundings.ts";

/** On an empty database it makes a workspace, an admin and a token. Later starts print a reminder of them. */
export async function welcome(
  { config, addresses, db, keyFor, now }: Parts,
  { print, isTerminal }: Surroundings,
): Promise<void> {
  const email = "admin@localhost";
  const password = newPassword();
  const created = await inTransaction(db, async (tx) => {
    // Of several processes that start at once on one empty database, the first one makes the workspace and the others
    // wait.
    await sql`select pg_advisory_xact_lock(${lockClasses.firstStart})`.execute(tx);
    const found = await tx.selectFrom("workspaces").select("id").limit(1).executeTakeFirst();
    if (found !== undefined) return undefined;
    const [{ createWorkspace }, { createTokenSigner }] = await Promise.all([
      import("../api/workspaces/create-workspace.ts"),
      import("../rpc/pipeline/credentials/tokens.ts"),
    ]);
    const signToken = createTokenSigner(keyFor("access-tokens"));
    return createWorkspace(
      { db: tx, now, signToken, plans: config.plans },
      { name: "My workspace", email, password },
    );
  });
  if (created === undefined) {
    print(await reminder(addresses.baseUrl, config.dataDir));
    return;
  }
  const { workspaceId, accessToken } = created;
  const credentials = { baseUrl: addresses.baseUrl, workspaceId, accessToken, email, password };
  await keepCredentials(config.dataDir, credentials);
  print(
    isTerminal ? greeting(credentials, config.dataDir) : await reminder(addresses.baseUrl, config.dataDir),
  );
}
