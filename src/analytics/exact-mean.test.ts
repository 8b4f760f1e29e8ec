import { sql } from "kysely";
import { expect, test } from "vitest";
import { randomFrom } from "../../test/fuzz/random.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { numericOf, trimmed } from "../db/number-of-text.ts";
import { createSum, decimalOf, floatOf, meanOf, numberIn } from "./exact-mean.ts";
import { byBytes } from "./kernels/ranking.ts";

const { db } = await testDatabase();
const random = randomFrom(40);

const texts = [
  ..."1,-1,+1,0,-0,00.50,.5,5.,1e3,1E+3,-2.5e-3,1e999,1e308,1.8e308,-1.797693134862314e308,1.797693134862315e308".split(
    ",",
  ),
  ..."1e-999,0e999, 7 ,\u00a07\ufeff,7 7,--1,1e,e1,.,1.2.3,0x10,1_000,Infinity,NaN,١".split(","),
  "9".repeat(400),
  "9".repeat(401),
  `0.${"1".repeat(398)}`,
  ...Array.from({ length: 60 }, () => `${random.below(2_000) / 8}e${random.below(40) - 20}`),
];

test("a text says the same number as in SQL, and a mean of numbers is the float nearest to it", async () => {
  const number = numericOf(trimmed(sql.ref("value")));
  const { rows } = await sql<{ value: string; number: string | null }>`
    select value, ${number}::text as number from unnest(${texts}::text[]) as given (value)`.execute(db);
  const numbers = rows.flatMap(({ value, number: expected }) => {
    const found = numberIn(value);
    expect(found === undefined, value).toBe(expected === null);
    if (found === undefined || expected === null) return [];
    expect(floatOf(value)).toBe(floatOf(expected));
    return [found];
  });
  const sum = createSum();
  for (const each of numbers) sum.add(each, 3);
  const { rows: means } = await sql<{ sum: string; mean: string }>`
    select sum(n * 3)::text as sum, (sum(n * 3) / ${numbers.length * 3}::numeric(40, 0))::text as mean
    from (select ${number} as n from unnest(${texts}::text[]) as given (value)) as numbers`.execute(db);
  const count = numbers.length * 3;
  expect(meanOf(sum.sum(), count)).toBe(meanOf(decimalOf(means[0]?.sum ?? ""), count));
  expect(meanOf(sum.sum(), count)).toBe(Number(means[0]?.mean));
  expect([meanOf(decimalOf("1"), 3), meanOf(decimalOf("-2"), 3), meanOf(decimalOf("0"), 7)]).toEqual([
    1 / 3,
    -2 / 3,
    0,
  ]);
});

test("texts are in the order of PostgreSQL's bytes", async () => {
  const letters = ["a", "b", "é", "\u{ff5e}", "\u{e000}", "\u{1f600}", "\u{10000}", "Z", ""];
  const words = Array.from({ length: 200 }, () => `${random.pick(letters)}${random.pick(letters)}`);
  const { rows } = await sql<{ word: string }>`
    select word from unnest(${words}::text[]) as given (word) order by word collate "C"`.execute(db);
  expect(words.toSorted(byBytes)).toEqual(rows.map(({ word }) => word));
});
