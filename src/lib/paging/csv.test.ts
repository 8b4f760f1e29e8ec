import { expect, test } from "vitest";
import { usedMs } from "../../../test/support/used-ms.ts";
import { type CsvCell, csvLine } from "./csv.ts";

function writeCsv(header: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [header, ...rows].map(csvLine).join("");
}

test("writes a header row and CRLF after every row, also without rows", () => {
  expect(writeCsv(["id", "device.country"], [])).toBe("id,device.country\r\n");
  expect(writeCsv(["a", "b", "c", "d"], [["x", 1.5, true, undefined]])).toBe("a,b,c,d\r\nx,1.5,true,\r\n");
});

test("quotes cells with commas, quotes and line breaks", () => {
  expect(writeCsv(["a", "b", "c", "d"], [['say "hi"', "x,y", "two\nlines", "cr\rhere"]])).toBe(
    'a,b,c,d\r\n"say ""hi""","x,y","two\nlines","cr\rhere"\r\n',
  );
});

test.each(["=1+1", "@SUM(A1)", "+cmd", "-cmd", "-", "+", "-1+2", "+1|calc"])(
  "keeps spreadsheets from running %j",
  (text) => {
    expect(writeCsv(["a"], [[text]])).toBe(`a\r\n'${text}\r\n`);
  },
);

test.each([
  [";=1+1", `";'=1+1"`],
  ["a;=1+1;b", `"a;'=1+1;b"`],
  ["a;b", `"a;b"`],
  ["a;-5;+1.5", `"a;-5;+1.5"`],
  ["a;-5x", `"a;'-5x"`],
  ["a\t@SUM(A1)", `"a\t'@SUM(A1)"`],
  ["\t=1+1", `"'\t'=1+1"`],
  ["\tx", `"'\tx"`],
  ["\r=1", `"'\r'=1"`],
  ["two\r\n+lines", `"two\r\n'+lines"`],
  ["\uff1d1+1", "'\uff1d1+1"],
])("writes %j so that readers with other separators run nothing of it either", (text, cell) => {
  expect(writeCsv(["a", "b"], [["x", text]])).toBe(`a,b\r\nx,${cell}\r\n`);
});

test("takes time in proportion to the text it writes", () => {
  const timeOf = (length: number) => {
    const text = ";+1".repeat(length / 3);
    const before = usedMs();
    writeCsv(["a"], [[text], [";".repeat(length)], [`-${"1".repeat(length)}x`]]);
    return usedMs() - before;
  };
  timeOf(30_000);
  expect(timeOf(3_000_000)).toBeLessThan(5_000);
});

test.each(["+4930123456", "-5", "-0.5", "1+1", "a=b", "'=1", ""])("leaves %j as it is", (text) => {
  expect(writeCsv(["a", "b"], [[text, "x"]])).toBe(`a,b\r\n${text},x\r\n`);
});
