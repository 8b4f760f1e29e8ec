import type pg from "pg";

/** What comes before the first row: a signature of 11 bytes, flags, and the length of an extension. */
const headerBytes = 19;

/** The fields of one row. They are valid until the next row comes. */
export interface CopiedRow {
  readonly bytes: Buffer;
  /** Where each field begins, and how long it is: -1 for null. */
  readonly starts: readonly number[];
  readonly lengths: readonly number[];
}

/**
 * Runs COPY … TO STDOUT (FORMAT binary) for a query without parameters and gives its rows one by one. The driver makes a
 * text of every other field; here, nothing is made of a field that nobody asks for. What `onRow` throws ends the copy
 * after its last row.
 */
export function copyOut(
  client: Pick<pg.ClientBase, "query">,
  query: string,
  onRow: (row: CopiedRow) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let hasHeader = false;
  let failure: unknown;
  const starts: number[] = [];
  const lengths: number[] = [];
  const take = (message: Buffer) => {
    let at = hasHeader ? 0 : headerBytes;
    hasHeader = true;
    // PostgreSQL sends each row as a message of its own, the first one behind the header. A count of -1 ends all rows.
    while (failure === undefined && at + 2 <= message.length) {
      const count = message.readInt16BE(at);
      at += 2;
      if (count < 0) return;
      for (let field = 0; field < count; field++) {
        const length = message.readInt32BE(at);
        at += 4;
        starts[field] = at;
        lengths[field] = length;
        if (length > 0) at += length;
      }
      onRow({ bytes: message, starts, lengths });
    }
  };
  const copy = {
    submit: (connection: pg.Connection) => connection.query(`copy (${query}) to stdout (format binary)`),
    handleCopyData({ chunk }: { readonly chunk: Buffer }) {
      try {
        take(chunk);
      } catch (error) {
        failure = error;
      }
    },
    handleCommandComplete() {},
    handleError: reject,
    handleReadyForQuery: () => (failure === undefined ? resolve() : reject(failure)),
  };
  client.query(copy);
  return promise;
}

/** The 16 bytes of an id, as a text of as many characters. */
export function idAt({ bytes, starts }: CopiedRow, field: number): string {
  const start = starts[field] ?? 0;
  return bytes.toString("latin1", start, start + 16);
}

/** An id in its usual form. */
export function uuidOf(characters: string): string {
  const hex = Buffer.from(characters, "latin1").toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A text or an enum; empty for null. */
export function textAt({ bytes, starts, lengths }: CopiedRow, field: number): string {
  const start = starts[field] ?? 0;
  return bytes.toString("utf8", start, start + Math.max(0, lengths[field] ?? 0));
}

/** A bigint below 2^53; 0 for null. */
export function bigintAt({ bytes, starts, lengths }: CopiedRow, field: number): number {
  if (lengths[field] === -1) return 0;
  const start = starts[field] ?? 0;
  return bytes.readInt32BE(start) * 0x1_0000_0000 + bytes.readUInt32BE(start + 4);
}

/** A smallint or a boolean; `missing` for null. */
export function smallAt({ bytes, starts, lengths }: CopiedRow, field: number, missing = 0): number {
  const length = lengths[field];
  if (length === -1) return missing;
  const start = starts[field] ?? 0;
  return length === 1 ? (bytes[start] ?? 0) : bytes.readInt16BE(start);
}

/** PostgreSQL counts microseconds from the year 2000. */
const epochMs = Date.UTC(2000, 0, 1);

/** The millisecond of a time. */
export function millisecondsAt(row: CopiedRow, field: number): number {
  return epochMs + Math.floor(bigintAt(row, field) / 1000);
}
