import type pg from "pg";
import { type RawRows, readRows } from "./raw-rows.ts";

/** The part of a connection of the driver that sends a statement. */
interface Connection {
  query(text: string): void;
}

/** What the driver calls on a statement that it runs. */
interface Submitted {
  submit(connection: Connection): void;
  handleCopyData(message: { readonly chunk: Buffer }): void;
  handleRowDescription(): void;
  handleCommandComplete(): void;
  handleError(error: Error): void;
  handleReadyForQuery(): void;
}

export interface CopyOptions {
  /** The columns of a row. */
  readonly width: number;
  readonly rowsMax: number;
  /** Rows that would need more bytes than this are left out; the first one is always there. */
  readonly bytesMax: number;
}

/** Reads the rows of `copy (…) to stdout (format binary)`. */
export function copyRows(client: pg.Client, statement: string, options: CopyOptions): Promise<RawRows> {
  const { promise, resolve, reject } = Promise.withResolvers<RawRows>();
  let bytes = Buffer.allocUnsafe(1 << 20);
  let length = 0;
  let isFull = false;
  let fault: Error | undefined;
  const submitted: Submitted = {
    submit: (connection) => connection.query(`copy (${statement}) to stdout (format binary)`),
    handleCopyData({ chunk }) {
      // Each message is one row.
      isFull ||= length > 0 && length + chunk.length > options.bytesMax;
      if (isFull) return;
      if (length + chunk.length > bytes.length) {
        const longer = Buffer.allocUnsafe(Math.max(2 * bytes.length, length + chunk.length));
        bytes.copy(longer, 0, 0, length);
        bytes = longer;
      }
      // The driver reads into the same memory again.
      chunk.copy(bytes, length);
      length += chunk.length;
    },
    handleRowDescription() {},
    handleCommandComplete() {},
    handleError(error) {
      fault = error;
      // A lost connection is never ready again.
      reject(error);
    },
    handleReadyForQuery() {
      if (fault !== undefined) reject(fault);
      else resolve(readRows(bytes.subarray(0, length), options.width, options.rowsMax));
    },
  };
  client.query(submitted);
  return promise;
}
