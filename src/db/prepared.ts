import type { CompiledQuery } from "kysely";
import type { Client } from "pg";

/** The names of prepared statements, by the text of the statement. */
const names = new Map<string, string>();

/**
 * Gives a statement a name, under which each connection prepares it. PostgreSQL plans the statement in the connection's
 * first executions, and later only runs it. Use it for statements that cost more to plan than to run. The text must
 * never vary.
 */
export function prepared<Row>(name: string, query: CompiledQuery<Row>): CompiledQuery<Row> {
  names.set(query.sql, name);
  return query;
}

/** Makes a connection send the names of prepared statements, because Kysely cannot send them. */
export function sendNames(client: Pick<Client, "query">): void {
  const query: (...parts: unknown[]) => unknown = client.query.bind(client);
  const named = (text: unknown, values: unknown, ...more: unknown[]) => {
    const name = typeof text === "string" && Array.isArray(values) ? names.get(text) : undefined;
    return name === undefined ? query(text, values, ...more) : query({ name, text, values }, ...more);
  };
  Object.assign(client, { query: named });
}
