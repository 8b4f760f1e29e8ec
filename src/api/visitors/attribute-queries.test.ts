import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { VisitorAttributeFilterOperator as WireOperator } from "../../../gen/signpost/v1/visitor_pb.js";
import { AttributeFilterSchema } from "../../../gen/signpost/v1/visitors_service_pb.js";
import { insertWorkspace } from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { newId } from "../../lib/ids.ts";
import {
  type AttributeOperator,
  comparisonFault,
  matchesAttribute,
  operatorNamed,
  type StoredAttribute,
} from "../../model/visitors/attribute-operators.ts";
import { answersTo } from "./attribute-queries.ts";
import { readQuestions } from "./rules.ts";

const { db } = await testDatabase();

const operators = Object.keys(WireOperator).flatMap((name) => operatorNamed(name) ?? []);

/** Values that may break operators, beside those that the generators find. */
const odd = [
  "",
  "pro",
  "PRO",
  "Prö",
  "pro plan",
  "100%",
  "a_b\\c",
  "0",
  "-0",
  "+1.",
  ".5",
  "1e3",
  "1000",
  "1e999",
  "1e-320",
  "0x10",
  "1,5",
  "NaN",
  "9007199254740993",
  "true",
  "FALSE",
  "yes",
  "2024-02-29",
  "2023-02-29",
  "2026-11-21",
  "2026-11-31",
  "2026-13-01",
  "2026-11-21T00:00:00Z",
  "2026-11-20T23:30:00-05:00",
  "2026-11-21 09:30",
  "2026-11-21t09:30z",
  "2026-03-29T02:30:00+0100",
  "2026-11-21T24:00:00Z",
  "1900-02-29",
  "2000-02-29",
  " 7\t",
  "\u00a0true\u3000",
  "1e0005",
  `0.${"0".repeat(500)}1`,
  " 2026-11-21 ",
  "0000-01-01",
  "0001-01-01",
  "2026-11-21T00:00:00.0009Z",
  "2026-11-20T23:59:59.9999999Z",
  "2026-11-21T00:00:00+14:00",
  "2026-11-21T00:00:00+15:00",
  "2026-11-21T00:00:00-00:60",
  `2026-11-21T00:00:00.${"0".repeat(60)}Z`,
];

const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...odd) },
  fc.integer({ min: -20, max: 20 }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map(String),
  fc
    .date({ min: new Date("2026-11-19"), max: new Date("2026-11-23"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.stringMatching(/^[a-cA-C %_\\]{1,4}$/),
);

const types = ["STRING", "NUMBER", "BOOLEAN", "DATE", "ENUM"] as const;

test("in the database every operator matches what it matches in memory", async () => {
  expect(operators).toHaveLength(23);
  const workspaceId = await insertWorkspace(db);
  const texts = [...new Set([...odd, ...fc.sample(value, { seed: 20_261_121, numRuns: 150 })])];
  const ids = new Map<string, StoredAttribute | undefined>();
  for (const [index, text] of texts.entries()) {
    // Each text as a number, as a date, and as something else.
    const other = types[(index * 3) % types.length] ?? "STRING";
    for (const type of new Set(["NUMBER", "DATE", other] as const))
      ids.set(await addVisitor(workspaceId, { value: text, type }), { value: text, type });
  }
  ids.set(await addVisitor(workspaceId, undefined), undefined);

  const wanted = [...odd, ...fc.sample(value, { seed: 7, numRuns: 15 })];
  const zones = ["UTC", "Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "No/Where"];
  let compared = 0;
  for (const operator of operators) {
    for (const [index, text] of wanted.entries()) {
      const timezone = zones[index % zones.length] ?? "";
      for (const key of index % 3 === 0 ? ["note", "$lastName"] : ["note"]) {
        if (comparisonFault({ key, operator, wanted: text }) !== undefined) continue;
        const found = await matched(workspaceId, { key, operator, wanted: text }, timezone);
        const expected = [...ids].filter(([, each]) =>
          matchesAttribute(operator, key === "note" ? each : asName(each), text, timezone),
        );
        const about = { operator, text, timezone, key };
        expect({ ...about, found: found.map((id) => told(ids.get(id))).toSorted(byText) }).toEqual({
          ...about,
          found: expected.map(([, each]) => told(each)).toSorted(byText),
        });
        compared += 1;
      }
    }
  }
  expect(compared).toBeGreaterThan(900);
});

/** The same value as a name, which is always text. */
function asName(attribute: StoredAttribute | undefined): StoredAttribute | undefined {
  return attribute && { ...attribute, type: "STRING" };
}

function told(attribute: StoredAttribute | undefined): string {
  return attribute === undefined ? "(missing)" : `${attribute.type} ${attribute.value}`;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

async function addVisitor(workspaceId: string, attribute: StoredAttribute | undefined): Promise<string> {
  const at = new Date();
  const id = newId(at);
  const row = { workspace_id: workspaceId, created_at: at, updated_at: at };
  await db
    .insertInto("visitors")
    .values({ ...row, id, last_name: attribute?.value ?? null })
    .execute();
  if (attribute !== undefined)
    await db
      .insertInto("visitor_attributes")
      .values({ ...row, visitor_id: id, key: "note", ...attribute })
      .execute();
  return id;
}

async function matched(
  workspaceId: string,
  {
    key,
    operator,
    wanted,
  }: { readonly key: string; readonly operator: AttributeOperator; readonly wanted: string },
  timezone: string,
): Promise<string[]> {
  const filter = create(AttributeFilterSchema, { key, operator: WireOperator[operator], value: wanted });
  const [question] = readQuestions([filter]);
  if (question === undefined) throw new Error("a filter got lost");
  const { rows } = await sql<{ id: string }>`select v.id from visitors v
    where v.workspace_id = ${workspaceId} and ${answersTo(question, timezone)}`.execute(db);
  return rows.map(({ id }) => id);
}
