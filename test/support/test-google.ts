import { afterAll } from "vitest";
import { type Google, lazyGoogle } from "../../src/integrations/google-forms/google.ts";
import { createTokenBox, type TokenBox } from "../../src/integrations/token-box.ts";
import { newId } from "../../src/lib/ids.ts";
import { deriveKey } from "../../src/lib/keys.ts";
import { type GoogleServer, googleReturnUrl, startGoogleServer } from "./google-server.ts";
import { type Api, masterSecret } from "./start-api.ts";

/** The real client of Google, with its stand-in. */
export interface TestGoogle extends Google {
  server(): Promise<GoogleServer>;
}

/** The stand-in begins with its first use, and ends with the test file. */
export function testGoogle(): TestGoogle {
  let starting: Promise<GoogleServer> | undefined;
  afterAll(async () => (await starting)?.close());
  const server = () => {
    starting ??= startGoogleServer();
    return starting;
  };
  const client = async () =>
    lazyGoogle({
      config: (await server()).config,
      returnUrl: googleReturnUrl,
      verifierKey: deriveKey(masterSecret, "google-code-verifiers"),
    });
  return {
    server,
    authorizationUrl: async (...given) => (await client()).authorizationUrl(...given),
    redeem: async (...given) => (await client()).redeem(...given),
    open: async (...given) => (await client()).open(...given),
    revoke: async (...given) => (await client()).revoke(...given),
  };
}

/** Seals tokens as the API of tests does. */
export function testTokenBox(): TokenBox {
  return createTokenBox(deriveKey(masterSecret, "integration-tokens"));
}

/** Connects the workspace to a new account, as a completed authorization does. */
export async function connectGoogle(
  { db, now, google }: Pick<Api, "db" | "now" | "google">,
  workspaceId: string,
): Promise<void> {
  const [id, at] = [newId(now()), now()];
  const email = `${id}@example.com`;
  const token = (await google.server()).grant(email);
  const place = { kind: "google-forms", workspaceId, integrationId: id } as const;
  await db.deleteFrom("google_forms_integrations").where("workspace_id", "=", workspaceId).execute();
  await db
    .insertInto("google_forms_integrations")
    .values({
      ...{ workspace_id: workspaceId, id, status: "ACTIVE", google_email: email, google_subject: email },
      ...{
        refresh_token: testTokenBox().seal(token, place),
        next_sync_at: at,
        created_at: at,
        updated_at: at,
      },
    })
    .execute();
}
