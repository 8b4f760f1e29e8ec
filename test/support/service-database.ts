import { randomUUID } from "node:crypto";
import pg from "pg";

/** Makes a database with the run's migrated schema; returns its URL. */
export async function copyTemplate(server: pg.ConnectionConfig, template: string): Promise<string> {
  const name = newName();
  await administer(server, `create database ${name} template ${template} strategy file_copy`);
  return urlOf(server, name);
}

/** Makes an empty database; returns its URL. */
export async function emptyDatabase(server: pg.ConnectionConfig): Promise<string> {
  const name = newName();
  await administer(server, `create database ${name}`);
  return urlOf(server, name);
}

export async function dropDatabase(server: pg.ConnectionConfig, url: string): Promise<void> {
  await administer(server, `drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);
}

function newName(): string {
  return `signpost_service_${randomUUID().replaceAll("-", "")}`;
}

/** In a URL the percent-encoded folder of a socket takes the place of the host. */
function urlOf(
  { host = "localhost", port = 5432, user, password }: pg.ConnectionConfig,
  name: string,
): string {
  const secret = typeof password === "string" ? `:${encodeURIComponent(password)}` : "";
  const account = user === undefined ? "" : `${encodeURIComponent(user)}${secret}@`;
  return `postgres://${account}${encodeURIComponent(host)}:${port}/${name}`;
}

// `create database` fails while another one copies the same template, so the calls take turns.
async function administer(server: pg.ConnectionConfig, statement: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(7251001)");
    await client.query(statement);
  } finally {
    await client.end();
  }
}
