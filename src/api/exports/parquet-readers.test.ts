import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import pg from "pg";
import { expect, test } from "vitest";
import { addEvents } from "../../../test/support/exported-events.ts";
import { startApi } from "../../../test/support/start-api.ts";
import { type CellKind, exportColumns } from "../../exports/columns.ts";
import { writeExport } from "../../exports/write-export.ts";
import { newId } from "../../lib/ids.ts";
import type { ExportFormat } from "../../model/exports.ts";

const api = await startApi();

/** What DuckDB calls the types of columns. */
const typeNames: Readonly<Record<CellKind, string>> = {
  id: "VARCHAR",
  text: "VARCHAR",
  label: "VARCHAR",
  time: "TIMESTAMP WITH TIME ZONE",
  whole: "BIGINT",
  number: "DOUBLE",
  boolean: "BOOLEAN",
};

test("DuckDB reads from a file of Parquet, over several row groups, what the lines of JSON have in every column", async () => {
  const { workspaceId } = await api.newWorkspace();
  await addEvents(api, { workspaceId, count: 300, from: new Date(Date.now() - 86_400_000) });
  const client = new pg.Client(api.database.connection);
  await client.connect();
  const write = async (format: ExportFormat, ending: string) => {
    const path = join(tmpdir(), `${newId(new Date())}.${ending}`);
    const scope = { workspaceId, linkId: undefined, from: new Date(0), to: new Date(), portionRows: 64 };
    await writeExport(client, { ...scope, format, path, bytesMax: 1e9 }, () => {});
    return path;
  };
  const [parquet, ndjson] = [await write("PARQUET", "parquet"), await write("NDJSON", "ndjson.gz")];
  await client.end();
  const connection = await (await DuckDBInstance.create(":memory:", { threads: "1" })).connect();
  const read = async (text: string) => (await connection.runAndReadAll(text)).getRowsJson();

  const types = await read(`select column_name, column_type from (describe select * from '${parquet}')`);
  expect(types).toEqual(exportColumns.map(({ path, kind }) => [path.join("."), typeNames[kind]]));
  const groups = await read(`select count(distinct row_group_id) from parquet_metadata('${parquet}')`);
  expect(groups).toEqual([["5"]]);
  for (const { path, kind, labels } of exportColumns) {
    const name = `"${path.join(".")}"`;
    const value = kind === "time" ? `epoch_ms(${name})` : name;
    const found = await read(`select ${value} from '${parquet}' order by id`);
    const text = `json ->> '$.${path.join(".")}'`;
    const other = {
      time: `coalesce(epoch_ms((${text})::timestamptz), 0)`,
      whole: `coalesce((${text})::bigint, 0)`,
      number: `coalesce((${text})::double, 0)`,
      boolean: `coalesce((${text})::boolean, false)`,
    }[kind as string];
    const wanted = await read(`select ${other ?? `coalesce(${text}, '${labels.get("") ?? ""}')`}
      from read_json_objects('${ndjson}', format = 'newline_delimited') order by json ->> '$.id'`);
    expect(found, name).toEqual(wanted);
  }
  await Promise.all([rm(parquet), rm(ndjson)]);
});
