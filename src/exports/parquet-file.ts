import { setImmediate as nextTurn } from "node:timers/promises";
import { constants, zstdCompressSync } from "node:zlib";
import type { RowGroup, SchemaElement } from "hyparquet";
import { ByteWriter } from "hyparquet-writer";
import { writeDataPageV2 } from "hyparquet-writer/src/datapage.js";
import { writeDictionaryPage } from "hyparquet-writer/src/dictionary.js";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import { type CodedColumn, codedColumn, plainColumn } from "./coded-columns.ts";
import { type ExportColumn, exportColumns } from "./columns.ts";
import type { FileFormat, FormatOptions } from "./file-format.ts";
import type { Portion } from "./portions.ts";

/** `PAR1`, which begins and ends a file. */
const magic = 0x31524150;

/** Ids that differ from event to event: a dictionary of them would only be longer. */
const distinctIds = new Set(["id", "visitorId", "deviceId", "leadScoreId"]);

type ColumnEncoder = Parameters<typeof writeDataPageV2>[0]["column"];

const root: SchemaElement = { name: "event", num_children: exportColumns.length };
const leaves = exportColumns.map(elementOf);
const schema = [root, ...leaves];
const compressors = {
  ZSTD: (bytes: Uint8Array): Uint8Array =>
    zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
};

function elementOf({ path, kind }: ExportColumn): SchemaElement {
  const element = { name: path.join("."), repetition_type: "REQUIRED" as const };
  if (kind === "boolean") return { ...element, type: "BOOLEAN" };
  if (kind === "number") return { ...element, type: "DOUBLE" };
  if (kind === "whole") return { ...element, type: "INT64" };
  if (kind === "time")
    return {
      ...element,
      type: "INT64",
      converted_type: "TIMESTAMP_MILLIS",
      // Without it, some readers take the times for those of no zone.
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
    };
  return { ...element, type: "BYTE_ARRAY", converted_type: "UTF8" };
}

/**
 * Events as Parquet, a row group for each portion. Columns have dictionaries that are made of the rows of devices
 * instead of those of events. The library, given columns of values, looks at every value four times.
 */
export function parquetFile({ workspaceId }: FormatOptions): FileFormat {
  const writer = new ByteWriter();
  const groups: RowGroup[] = [];
  let rows = 0n;
  writer.appendUint32(magic);

  /** What was written since the last time. */
  const taken = (): Buffer => {
    const bytes = Buffer.from(writer.getBytes());
    writer.index = 0;
    return bytes;
  };

  return {
    async write(portion) {
      const from = writer.offset;
      const columns: RowGroup["columns"] = [];
      for (const [place, column] of exportColumns.entries()) {
        columns.push(writeColumn(writer, column, leaves[place] ?? root, { portion, workspaceId }));
        await nextTurn();
      }
      const size = columns.reduce(
        (sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n),
        0n,
      );
      const count = BigInt(portion.events.count);
      rows += count;
      groups.push({
        columns,
        total_byte_size: size,
        num_rows: count,
        total_compressed_size: BigInt(writer.offset - from),
      });
      return taken();
    },
    end() {
      const metadata = { version: 2, created_by: "signpost", schema, num_rows: rows, row_groups: groups };
      writeMetadata(writer, { ...metadata, metadata_length: 0 });
      writer.appendUint32(magic);
      return taken();
    },
  };
}

interface ColumnData {
  readonly portion: Portion;
  readonly workspaceId: string;
}

function writeColumn(
  writer: ByteWriter,
  column: ExportColumn,
  element: SchemaElement,
  { portion, workspaceId }: ColumnData,
): RowGroup["columns"][number] {
  const { type = "BYTE_ARRAY" } = element;
  const encoder: ColumnEncoder = {
    columnName: element.name,
    element,
    schemaPath: [root, element],
    codec: "ZSTD",
    compressors,
    stats: false,
    pageSize: 0,
    columnIndex: false,
    offsetIndex: false,
  };
  const page = (values: CodedColumn["codes"] | unknown[]) => ({
    values: values as unknown[],
    definitionLevels: [],
    repetitionLevels: [],
    maxDefinitionLevel: 0,
  });
  const from = writer.offset;
  const isDistinct = distinctIds.has(element.name);
  const coded =
    isDistinct || column.kind === "boolean" ? undefined : codedColumn(column, portion, workspaceId);
  let size = 0;
  let dataFrom = from;
  if (coded === undefined) {
    const values = plainColumn(column, portion);
    size += writeDataPageV2({ writer, column: encoder, encoding: "PLAIN", pageData: page(values) });
  } else {
    size += writeDictionaryPage(writer, encoder, [...coded.dictionary]);
    dataFrom = writer.offset;
    size += writeDataPageV2({
      writer,
      column: encoder,
      encoding: "RLE_DICTIONARY",
      pageData: page(coded.codes),
    });
  }
  return {
    file_offset: BigInt(from),
    meta_data: {
      type,
      encodings: coded === undefined ? ["PLAIN"] : ["PLAIN", "RLE_DICTIONARY"],
      path_in_schema: [element.name],
      codec: "ZSTD",
      num_values: BigInt(portion.events.count),
      total_compressed_size: BigInt(writer.offset - from),
      total_uncompressed_size: BigInt(size),
      data_page_offset: BigInt(dataFrom),
      ...(coded !== undefined && { dictionary_page_offset: BigInt(from) }),
    },
  };
}
