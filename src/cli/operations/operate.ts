import { pino } from "pino";
import { sealAgain } from "../../analytics/segments/seal-again.ts";
import { issueToken } from "../../api/workspace-tokens/issue-token.ts";
import { createWorkspace } from "../../api/workspaces/create-workspace.ts";
import { describeFailure } from "../../db/describe-failure.ts";
import { isUuid } from "../../lib/ids.ts";
import { deriveKey } from "../../lib/keys.ts";
import type { SignToken, TokenKeyType } from "../../model/token.ts";
import { createTokenSigner } from "../../rpc/pipeline/credentials/tokens.ts";
import type { Config } from "../../service/config.ts";
import { masterSecret, newPassword } from "../../service/first-start.ts";
import { type RunningDatabase, startDatabase } from "../../service/start-database.ts";
import { rebuildRollUps } from "../../visitors/roll-ups.ts";

const now = () => new Date();

/** Runs on the configured database after migrating it, and closes it afterwards. */
export async function withDatabase(
  config: Config,
  run: (database: RunningDatabase) => Promise<string>,
): Promise<string> {
  const database = await startDatabase(
    config,
    pino({ level: "warn", serializers: { err: describeFailure } }, pino.destination(2)),
    now,
  );
  try {
    return await run(database);
  } finally {
    await database.stop();
  }
}

async function tokenSigner(config: Config): Promise<SignToken> {
  return createTokenSigner(deriveKey(await masterSecret(config), "access-tokens"));
}

export function migrateDatabase(config: Config): Promise<string> {
  return withDatabase(config, async () => "the schema is up to date");
}

/** Makes a workspace and prints its credentials as JSON, once. */
export async function createWorkspaceFor(
  config: Config,
  order: { name: string; email: string },
): Promise<string> {
  const signToken = await tokenSigner(config);
  return withDatabase(config, async ({ db }) => {
    const password = newPassword();
    const { workspaceId, accessToken } = await createWorkspace(
      { db, now, signToken, plans: config.plans },
      { ...order, password },
    );
    return JSON.stringify({ workspaceId, accessToken, email: order.email, password }, undefined, 2);
  });
}

/** Makes a token and prints it, once. */
export async function createToken(
  config: Config,
  { workspaceId, name, keyType }: { workspaceId: string; name: string; keyType: TokenKeyType },
): Promise<string> {
  if (!isUuid(workspaceId)) throw new Error(`"${workspaceId}" is no workspace id`);
  const signToken = await tokenSigner(config);
  return withDatabase(config, async ({ db }) => {
    const workspace = await db
      .selectFrom("workspaces")
      .select("environment")
      .where("id", "=", workspaceId)
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    if (workspace === undefined) throw new Error(`there is no workspace ${workspaceId}`);
    const { environment } = workspace;
    const order = { workspaceId, keyType, environment, name, scopes: [], createdBy: undefined };
    return (await issueToken({ db, now, signToken }, order)).accessToken;
  });
}

/** Rebuilds the counters and the segments of one workspace, or of all, from the events. */
export async function rebuildEvents(config: Config, workspaceId: string | undefined): Promise<string> {
  if (workspaceId !== undefined && !isUuid(workspaceId))
    throw new Error(`"${workspaceId}" is no workspace id`);
  return withDatabase(config, async ({ db, connection }) => {
    await rebuildRollUps(db, workspaceId);
    await sealAgain({ connection, now }, workspaceId);
    return "the counters are rebuilt";
  });
}
