import type { CompiledQuery } from "kysely";
import type { Client } from "pg";

/** The names of statements that each connection prepares once, by their text. */
const names = new Map<string, string>();

/**
 * Has a statement prepared under a name: PostgreSQL plans it on the first executions of a connection, and from then on only runs
 * it. For statements of which planning costs more than running; their text must always be the same.
 */
export function prepared<Row>(name: string, query: CompiledQuery<Row>): CompiledQuery<Row> {
  names.set(query.sql, name);
  return query;
}

/** Lets a connection send the names of prepared statements, for which Kysely has no place. */
export function sendNames(client: Pick<Client, "query">): void {
  const query: (...parts: unknown[]) => unknown = client.query.bind(client);
  const named = (text: unknown, values: unknown, ...more: unknown[]) => {
    const name = typeof text === "string" && Array.isArray(values) ? names.get(text) : undefined;
    return name === undefined ? query(text, values, ...more) : query({ name, text, values }, ...more);
  };
  Object.assign(client, { query: named });
}
