import type { HeldColumns, HeldName, NumberedTexts } from "../kernels/span.ts";
import type { Coded, ColumnName, VisitColumns } from "../segments/columns.ts";
import type { MovesThen } from "./moved-visitors.ts";
import type { WorkspaceNumbers } from "./workspace-numbers.ts";

/** The columns of a segment from which a column is made. */
export const sourcesOf: { readonly [Name in HeldName]: readonly ColumnName[] } = {
  times: ["times"],
  links: ["links"],
  people: ["visitors", "devices"],
  visitType: ["visitType"],
  deviceType: ["deviceType"],
  country: ["country"],
  city: ["city"],
  browser: ["browser"],
  platform: ["platform"],
  completed: ["completed"],
  scores: ["scores"],
  ways: ["ways"],
};

/** Gives a column as it is stored. */
export type StoredColumns = <Name extends ColumnName>(name: Name) => VisitColumns[Name];

/** Makes a column for reading, with the numbers of the workspace. */
export function holdColumn<Name extends HeldName>(
  name: Name,
  stored: StoredColumns,
  numbers: WorkspaceNumbers,
  moves: MovesThen,
): HeldColumns[Name] {
  const make: { readonly [Each in HeldName]: () => HeldColumns[Each] } = {
    times: () => stored("times"),
    completed: () => stored("completed"),
    scores: () => stored("scores"),
    people: () => numbers.peopleOf(stored("visitors"), stored("devices"), moves),
    links: () => numbered("links"),
    visitType: () => numbered("visitType"),
    deviceType: () => numbered("deviceType"),
    country: () => numbered("country"),
    city: () => numbered("city"),
    browser: () => numbered("browser"),
    platform: () => numbered("platform"),
    ways: () => numbered("ways"),
  };
  const numbered = (text: Exclude<HeldName, "times" | "people" | "completed" | "scores">): NumberedTexts => {
    const { values, codes }: Coded = stored(text);
    return { codes, numbers: numbers.texts(text).numbersOf(values) };
  };
  return make[name]();
}

/** How many bytes a column takes. */
export function bytesOf(column: HeldColumns[HeldName]): number {
  if (!("codes" in column)) return column.byteLength;
  return column.codes.byteLength + ("numbers" in column ? column.numbers.byteLength : 0);
}
