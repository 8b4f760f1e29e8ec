import type { RawBuilder } from "kysely";
import type { Db } from "../db/open.ts";
import type { PictureReader } from "../lib/images/reencode-image.ts";
import type { Storage } from "../lib/storage/storage.ts";
import type { QueuedJobs } from "../model/jobs.ts";

/** What the slices are given from elsewhere. */
export interface Deps {
  readonly now: () => Date;
  /** A random short link that may be in use. */
  readonly newShortlink: () => string;
  /** The call that queues a job once a statement with it commits: an expression with a value, evaluated once per row. */
  readonly jobCall: <Task extends keyof QueuedJobs>(
    task: Task,
    payload: QueuedJobs[Task],
  ) => RawBuilder<unknown>;
  /** For what stands whatever becomes of a call's transaction; such a call may wait for it while it holds a connection. */
  readonly autonomousDb: Db;
  /** Where files are kept. */
  readonly storage: Storage;
  /** Reads pictures that callers send. */
  readonly pictures: PictureReader;
  /** The address at which anyone can read a stored file under `public/`, as long as it is there. */
  readonly publicFileUrl: (storageKey: string) => string;
  /** The address at which whoever holds it can read a stored file until it expires. */
  readonly signFileUrl: (storageKey: string, expiresAt: Date) => string;
  /** Public address of short links without a domain of their own, without a slash at the end. */
  readonly shortUrl: string;
  /** Seals the passwords of workflow steps, 32 bytes. */
  readonly stepPasswordKey: Uint8Array;
  /** How long a call waits for a QR image, in milliseconds. */
  readonly qrcodeWaitMs: number;
}
