import type { RawBuilder } from "kysely";
import type { Analytics } from "../analytics/driver.ts";
import type { Entitlements } from "../db/entitlements.ts";
import type { Db } from "../db/open.ts";
import type { OauthStates } from "../integrations/oauth-state.ts";
import type { TokenBox } from "../integrations/token-box.ts";
import type { FindAddressFault } from "../lib/fetch/address-rules.ts";
import type { PictureReader } from "../lib/images/reencode-image.ts";
import type { Storage } from "../lib/storage/storage.ts";
import type { QueuedJobs } from "../model/jobs.ts";
import type { PlanTable } from "../model/plans/plan-table.ts";

/** What a job is told: values, or expressions of the statement. */
type Told<Payload> = { readonly [Field in keyof Payload]: string | RawBuilder<unknown> };

/** What every slice is given. */
export interface Deps {
  readonly now: () => Date;
  /** A random short link. It may already be in use. */
  readonly newShortlink: () => string;
  /** An expression that queues a job when its statement commits. It has a value, and is evaluated once for each row. */
  readonly jobCall: <Task extends keyof QueuedJobs>(
    task: Task,
    payload: Told<QueuedJobs[Task]>,
  ) => RawBuilder<unknown>;
  /** The same for each row of `rows`, as a table with a row for each job. Jobs with a greater priority run later. */
  readonly jobCalls: <Task extends keyof QueuedJobs>(
    task: Task,
    payload: Told<QueuedJobs[Task]>,
    place: { readonly rows: RawBuilder<unknown>; readonly priority: number },
  ) => RawBuilder<unknown>;
  /**
   * For writes that stay even when a call's transaction is rolled back. A call may wait for such a write while it holds
   * a connection.
   */
  readonly autonomousDb: Db;
  /** Answers questions about counted visits. Services are given those that the plan of the workspace shows. */
  readonly analytics: Analytics;
  /** Where files are kept. */
  readonly storage: Storage;
  /** Reads pictures that callers send. */
  readonly pictures: PictureReader;
  /** The address at which anyone can read a stored file under `public/`, as long as the file exists. */
  readonly publicFileUrl: (storageKey: string) => string;
  /** An address of a stored file that anyone who holds it can read until it expires. */
  readonly signFileUrl: (storageKey: string, expiresAt: Date) => string;
  /** Public address of short links without a domain of their own, without a slash at the end. */
  readonly shortUrl: string;
  /** Whether workspaces that ask become public without an operator: on a computer that only its owner reaches. */
  readonly approvesEnrollment: boolean;
  /** The key that seals the passwords of workflow steps, 32 bytes. */
  readonly stepPasswordKey: Uint8Array;
  /** The key that seals the secrets of webhooks, 32 bytes. */
  readonly webhookSecretKey: Uint8Array;
  /** Why nothing would be sent to an address that a customer gave. It asks name servers. */
  readonly addressFaultOf: FindAddressFault;
  /** How many links a job creates at most. */
  readonly bulkJobLinks: number;
  readonly plans: PlanTable;
  /** What each workspace is allowed. */
  readonly entitlements: Entitlements;
  /** Public address of the API, without a slash at the end. */
  readonly baseUrl: string;
  /** Where people sign up. */
  readonly signUpUrl: string;
  /** How long a call waits for a QR image at most, in milliseconds. */
  readonly qrcodeWaitMs: number;
}

/** What slices that connect a workspace to programs of others are given, too. */
export interface IntegrationDeps {
  /** The states of authorizations. */
  readonly oauthStates: OauthStates;
  /** Seals the tokens that others give. */
  readonly tokenBox: TokenBox;
}
