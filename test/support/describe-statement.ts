import type pg from "pg";

/** A column of a statement's result as PostgreSQL describes it. */
export interface DescribedColumn {
  readonly name: string;
  readonly dataTypeID: number;
}

/** Asks PostgreSQL to describe a statement's result: it parses and plans the statement without running it. */
export function describeStatement(client: pg.Client, text: string): Promise<readonly DescribedColumn[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly DescribedColumn[]>();
  let columns: readonly DescribedColumn[] = [];
  // The driver runs any object with these methods; its types only declare `submit`.
  const description = {
    submit(connection: pg.Connection) {
      connection.parse({ name: "", text, types: [] }, true);
      connection.describe({ type: "S", name: "" }, true);
      connection.sync();
    },
    handleRowDescription({ fields }: { fields: readonly DescribedColumn[] }) {
      columns = fields;
    },
    handleError: reject,
    handleReadyForQuery: () => resolve(columns),
  };
  client.query(description);
  return promise;
}
