/** The row of a statement that always gives one, as one without a table does. */
export function onlyRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error("a statement that always gives one row gave none");
  return row;
}
