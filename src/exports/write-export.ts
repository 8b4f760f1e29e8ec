import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type pg from "pg";
import type { ExportFormat } from "../model/exports.ts";
import type { FileFormat, FormatOptions } from "./file-format.ts";
import { type ExportScope, readPortions } from "./portions.ts";
import { csvFile, ndjsonFile } from "./text-files.ts";

export interface ExportOrder extends ExportScope {
  readonly format: ExportFormat;
  /** The file to write, which does not exist yet. */
  readonly path: string;
  /** The most bytes of the file. */
  readonly bytesMax: number;
}

/** The file that was written. */
export interface WrittenFile {
  readonly rows: number;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export class FileTooLargeError extends Error {}

const openFormat: Readonly<Record<ExportFormat, (options: FormatOptions) => Promise<FileFormat>>> = {
  CSV: async (options) => csvFile(options),
  NDJSON: async (options) => ndjsonFile(options),
  PARQUET: async (options) => (await import("./parquet-file.ts")).parquetFile(options),
};

/** How much is compressed while the next lines are written. */
const aheadBytes = 8 * 1024 * 1024;

/** Writes the events of an order into a file, and reports how many it has written from time to time. */
export async function writeExport(
  client: pg.Client,
  order: ExportOrder,
  report: (rows: number) => void,
): Promise<WrittenFile> {
  const file = await openFormat[order.format](order);
  const hash = createHash("sha256");
  let [rows, bytes] = [0, 0];
  async function* content(): AsyncGenerator<Buffer, void, undefined> {
    for await (const portion of readPortions(client, order)) {
      yield await file.write(portion);
      rows += portion.events.count;
      report(rows);
    }
    yield file.end();
  }
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      done(bytes > order.bytesMax ? new FileTooLargeError() : null, chunk);
    },
  });
  const target = createWriteStream(order.path, { flags: "wx", mode: 0o600 });
  if (order.format === "PARQUET") await pipeline(content, measure, target);
  else {
    const gzip = createGzip({ level: 1, chunkSize: 256 * 1024 });
    await pipeline(content, ahead(), gzip, measure, target);
  }
  return { rows, bytes, sha256: hash.digest("hex") };
}

function ahead(): Transform {
  return new Transform({
    writableHighWaterMark: aheadBytes,
    readableHighWaterMark: aheadBytes,
    transform: (chunk: Buffer, _encoding, done) => done(null, chunk),
  });
}
