import type { RawBuilder } from "kysely";

/** What the slices are given from elsewhere. */
export interface Deps {
  readonly now: () => Date;
  /** A random short link that may be in use. */
  readonly newShortlink: () => string;
  /** The call that queues a job once a statement with it commits: an expression with a value, evaluated once per row. */
  readonly jobCall: (
    task: "render-qrcode",
    payload: { readonly workspaceId: string; readonly linkId: string },
  ) => RawBuilder<unknown>;
  /** The address at which whoever holds it can read a stored file until it expires. */
  readonly signFileUrl: (storageKey: string, expiresAt: Date) => string;
  /** Public address of short links without a domain of their own, without a slash at the end. */
  readonly shortUrl: string;
  /** How long a call waits for a QR image, in milliseconds. */
  readonly qrcodeWaitMs: number;
}
