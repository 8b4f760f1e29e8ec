import type { CompiledQuery } from "kysely";
import { type Client, DatabaseError } from "pg";

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
  nameStatements(client, (text) => names.get(text));
}

/** How many statements a connection prepares at most. The storing thread has some forty. */
const preparedMax = 200;

/**
 * Makes a connection prepare every statement that has parameters. It is for a connection that runs the same few
 * statements again and again.
 */
export function prepareAll(client: Pick<Client, "query">): void {
  const own = new Map<string, string | undefined>();
  const nameOf = (text: string) => {
    if (!own.has(text) && own.size < preparedMax) own.set(text, `own-${own.size}`);
    return own.get(text);
  };
  // A migration can change the columns of "select *". Such a statement goes on without its name.
  nameStatements(client, nameOf, (text) => own.set(text, undefined));
}

/** The code of "cached plan must not change result type". */
const changedResult = "0A000";

function nameStatements(
  client: Pick<Client, "query">,
  nameOf: (text: string) => string | undefined,
  onChanged: (text: string) => void = () => {},
): void {
  // The driver's method has many forms. Kysely uses the one with a text and its values, which gives a promise.
  const query: (...parts: unknown[]) => unknown = client.query.bind(client);
  const named = (text: unknown, values: unknown, ...more: unknown[]) => {
    const isNamed = typeof text === "string" && Array.isArray(values) && values.length > 0;
    const name = isNamed ? nameOf(text) : undefined;
    if (name === undefined) return query(text, values, ...more);
    const result = query({ name, text, values }, ...more);
    if (result instanceof Promise)
      result.catch((error: unknown) => {
        if (error instanceof DatabaseError && error.code === changedResult) onChanged(String(text));
      });
    return result;
  };
  Object.assign(client, { query: named });
}
