import { type SelectQueryBuilder, sql } from "kysely";
import type { Page } from "../../lib/paging/page.ts";

/**
 * Takes a page of rows with `created_at` and `id` out of a query, newest first: one row more than the page, as `fillPage`
 * wants them.
 */
export function newestFirst<DB, Table extends keyof DB, Row>({ size, after }: Page<"time">) {
  return (query: SelectQueryBuilder<DB, Table, Row>): SelectQueryBuilder<DB, Table, Row> => {
    const rest =
      after === undefined
        ? query
        : query.where(sql<boolean>`(created_at, id) < (${after.key}::timestamptz, ${after.id}::uuid)`);
    return rest
      .orderBy(sql.ref("created_at"), "desc")
      .orderBy(sql.ref("id"), "desc")
      .limit(size + 1);
  };
}
