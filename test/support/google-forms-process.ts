import type pg from "pg";
import { openDatabase } from "../../src/db/open.ts";
import { lazyGoogle } from "../../src/integrations/google-forms/google.ts";
import type { GoogleConfig } from "../../src/integrations/google-forms/google-config.ts";
import { createTokenBox } from "../../src/integrations/token-box.ts";
import { fetchFormResponses } from "../../src/jobs/integrations/fetch-form-responses.ts";
import { deriveKey } from "../../src/lib/keys.ts";

/*
 * The job that fetches responses of forms, as a separate process, which tests kill: `node google-forms-process.ts
 * '{"connection":{…}}'`.
 */

interface Given {
  readonly connection: pg.ConnectionConfig;
  readonly config: GoogleConfig;
  readonly secret: string;
  /** The time in milliseconds. */
  readonly at: number;
}

const { connection, config, secret, at }: Given = JSON.parse(process.argv[2] ?? "{}");
const { db, close } = openDatabase({
  connection,
  poolSize: 4,
  statementTimeoutMs: 30_000,
  onError: () => {},
});
await fetchFormResponses({
  db,
  now: () => new Date(at),
  google: lazyGoogle({ config, returnUrl: "http://api.test", verifierKey: new Uint8Array(32) }),
  tokenBox: createTokenBox(deriveKey(secret, "integration-tokens")),
});
await close();
