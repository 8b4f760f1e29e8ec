import type pg from "pg";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Analytics } from "../../analytics/driver.ts";
import type { Db } from "../../db/open.ts";
import type { ReadOrigin } from "../../lib/client-address.ts";
import type { KeyPurpose } from "../../lib/keys.ts";
import type { Storage } from "../../lib/storage/storage.ts";
import type { LazyReader } from "../../scan/device/request-reader.ts";
import type { StoreThread } from "../../scan/store/store-thread.ts";
import type { Config } from "../config.ts";

/** What every role of the service needs. */
export interface Parts {
  readonly config: Config;
  /** Public addresses, once the port is known. */
  readonly addresses: Addresses;
  readonly log: Logger;
  readonly now: () => Date;
  /** The pool of the API. */
  readonly db: Db;
  readonly pool: pg.Pool;
  /** The pool of visitors. */
  readonly scanDb: Db;
  /** The pool of jobs. */
  readonly jobsDb: Db;
  /**
   * A few connections apart from the pools, for statements that commit whatever happens to the caller's transaction.
   */
  readonly autonomousDb: Db;
  /** Settings for connections apart from the pools: LISTEN, jobs. */
  readonly connection: pg.ClientConfig;
  readonly keyFor: (purpose: KeyPurpose) => Uint8Array;
  readonly storage: Storage;
  /** Classes of devices and places, for this thread. */
  readonly reader: LazyReader;
  /** The thread that stores visits, which begins with the first call. */
  readonly storing: () => StoreThread;
  /** Answers questions about counted visits, in a thread that begins with the first question. */
  readonly analytics: Analytics;
  readonly metrics: Registry;
  readonly readOrigin: ReadOrigin;
}

export interface Addresses {
  readonly baseUrl: string;
  readonly shortUrl: string;
  readonly authUrl: string;
  readonly mcpUrl: string;
}
