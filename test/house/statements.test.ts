import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DescribedColumn, describeStatement } from "../support/describe-statement.ts";
import { type DeclaredColumn, sourceStatements } from "../support/source-statements.ts";
import { testDatabase } from "../support/test-database.ts";

/** The one file whose statements cannot be checked alone: callers hand it the rows to embed. */
const embedding = "src/db/within-answer.ts";

const statements = sourceStatements(fileURLToPath(new URL("../..", import.meta.url)));
const { connection } = await testDatabase();
const client = new pg.Client(connection);
const enums = new Set<number>();

beforeAll(async () => {
  await client.connect();
  const { rows } = await client.query<{ oid: number }>("select oid from pg_type where typtype = 'e'");
  for (const { oid } of rows) enums.add(oid);
});
afterAll(() => client.end());

const { builtins } = pg.types;
/** The kinds of values that the driver, as configured, returns for a type; JSON can be anything. */
const kinds: Readonly<Record<number, DeclaredColumn["kind"]>> = {
  [builtins.INT8]: "bigint",
  [builtins.INT2]: "number",
  [builtins.INT4]: "number",
  [builtins.FLOAT4]: "number",
  [builtins.FLOAT8]: "number",
  [builtins.BOOL]: "boolean",
  [builtins.TIMESTAMPTZ]: "Date",
  [builtins.BYTEA]: "Buffer",
  [builtins.TEXT]: "string",
  [builtins.VARCHAR]: "string",
  [builtins.UUID]: "string",
  // PostgreSQL's type for names in its catalog.
  19: "string",
  [builtins.NUMERIC]: "string",
  // text[] and uuid[].
  1009: "array",
  2951: "array",
};
const isJson = ({ dataTypeID }: DescribedColumn) =>
  dataTypeID === builtins.JSON || dataTypeID === builtins.JSONB;

/** The faults of a type's declared columns; `texts` are the statement's columns in each of its ways. */
function wrong(declared: readonly DeclaredColumn[], texts: readonly (readonly DescribedColumn[])[]) {
  return declared.flatMap(({ name, kind, isOptional }) => {
    const same = texts.flatMap((columns) => columns.filter((column) => column.name === name));
    if (same.length === 0) return isOptional ? [] : [`no column ${name}`];
    return same.flatMap((column) => {
      if (kind === "null" || isJson(column)) return [];
      const given = enums.has(column.dataTypeID) ? "string" : kinds[column.dataTypeID];
      return given === kind ? [] : [`${name} is ${given ?? column.dataTypeID}, declared as ${kind}`];
    });
  });
}

test("PostgreSQL accepts every statement of the sources, and rows have the columns that their type declares", async () => {
  expect(statements.filter(({ columns }) => columns.length > 0).length).toBeGreaterThan(70);
  for (const { place, columns, texts } of statements) {
    if (place.startsWith(embedding)) continue;
    try {
      const described = [];
      for (const text of texts) described.push(await describeStatement(client, text));
      expect.soft(wrong(columns, described), place).toEqual([]);
    } catch (error) {
      expect.soft(error, texts.join()).toBe(place);
    }
  }
});

test.each<[string, DeclaredColumn["kind"], string, string[]]>([
  ["total", "bigint", "select count(*) as total from events", []],
  ["total", "number", "select count(*) as total from events", ["total is bigint, declared as number"]],
  ["total", "bigint", "select count(*) from events", ["no column total"]],
  ["action", "string", "select action from events where id = $1", []],
  ["ended_at", "string", "select ended_at from events", ["ended_at is Date, declared as string"]],
  ["options", "unknown", "select options from qrcode_designs", []],
])("a column %s declared as %s is judged by %s", async (name, kind, text, found) => {
  expect(wrong([{ name, kind, isOptional: false }], [await describeStatement(client, text)])).toEqual(found);
});

test("a statement with a name that the schema lacks is refused", async () => {
  await expect(describeStatement(client, "select ended from events")).rejects.toThrow(
    /"ended" does not exist/,
  );
});
