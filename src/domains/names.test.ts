import { expect, test } from "vitest";
import { insertWorkspace } from "../../test/support/start-scan.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { newId } from "../lib/ids.ts";
import { beginDueChecks } from "./names.ts";

const { db } = await testDatabase();

test("a workspace with many due checks keeps no other one waiting, and no check begins twice", async () => {
  const at = new Date();
  const [many, few] = [await insertWorkspace(db), await insertWorkspace(db)];
  const add = (name: string, workspace_id: string, ago: number) =>
    db
      .insertInto("domain_names")
      .values({ name, workspace_id, custom_domain_id: newId(at), check_due_at: new Date(at.getTime() - ago) })
      .execute();
  for (let index = 0; index < 30; index++) await add(`d${index}.many.example`, many, 60_000 - index);
  await add("one.few.example", few, 2);
  await add("two.few.example", few, 1);
  const first = (await beginDueChecks(db, at, 10)).map(({ name }) => name);
  expect(first).toHaveLength(10);
  expect(first).toEqual(expect.arrayContaining(["one.few.example", "two.few.example", "d0.many.example"]));
  const both = await Promise.all([beginDueChecks(db, at, 15), beginDueChecks(db, at, 15)]);
  const rest = [...both.flat(), ...(await beginDueChecks(db, at, 100))].map(({ name }) => name);
  expect(new Set([...first, ...rest]).size).toBe(32);
  expect(rest).toHaveLength(22);
});
