import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "../../src/db/open.ts";
import { deriveKey } from "../../src/lib/keys.ts";
import { createAccessTokenSigner } from "../../src/oauth/access-tokens.ts";
import { findGrant, makeGrant } from "../../src/oauth/grants.ts";
import { createHandles } from "../../src/oauth/handles.ts";
import { createTokenIssuer } from "../../src/oauth/issue-tokens.ts";
import { resourcesAt } from "../../src/oauth/resources.ts";
import { createSigningKeys } from "../../src/oauth/signing-keys.ts";
import { apiScopes } from "../../src/rpc/access.ts";

interface GrantingService {
  readonly baseUrl: string;
  /** The folder of a service with an embedded database. */
  readonly dataDir: string;
  readonly credentials: { readonly workspaceId: string; readonly memberId?: string };
}

/** Makes a grant of all scopes at a running service, and returns an access token of it for the tools. */
export async function grantAt({ baseUrl, dataDir, credentials }: GrantingService): Promise<string> {
  const secret = (await readFile(join(dataDir, "secret"), "utf8")).trim();
  const connection = { host: join(dataDir, "postgres"), user: "signpost", database: "postgres" };
  const db = openDatabase({ connection, poolSize: 1, statementTimeoutMs: 10_000, onError: () => {} });
  try {
    const now = () => new Date();
    const keyFor = (purpose: "oauth-signing-keys" | "oauth-secrets") => deriveKey(secret, purpose);
    const keys = createSigningKeys({ db: db.db, now, sealingKey: keyFor("oauth-signing-keys") });
    const signAccessToken = createAccessTokenSigner({ keys, issuer: `${baseUrl}/auth` });
    const issuer = createTokenIssuer({
      db: db.db,
      now,
      handles: createHandles(keyFor("oauth-secrets")),
      signAccessToken,
    });
    const { workspaceId } = credentials;
    const member = await db.db
      .selectFrom("members")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .executeTakeFirstOrThrow();
    const expiresAt = new Date(Date.now() + 24 * 60 * 60 * 1000);
    const grantId = await makeGrant(
      db.db,
      {
        ...{
          workspaceId,
          memberId: member.id,
          clientId: "a-client",
          clientName: "A client",
          resource: "MCP",
        },
        ...{ scope: [...apiScopes].join(" "), expiresAt },
      },
      now(),
    );
    const grant = await findGrant(db.db, { workspaceId, grantId }, now());
    if (grant === undefined) throw new Error("the grant is missing");
    const wanted = { scope: grant.scope, audience: resourcesAt(baseUrl).MCP };
    return (await issuer.accessToken(grant, wanted)).access_token;
  } finally {
    await db.close();
  }
}
