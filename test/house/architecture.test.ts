import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testDatabase } from "../support/test-database.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Who may import whom. A room is a folder of src; `own` is the importing room itself. Files are named where only they may
 * be imported. What is not listed is refused, npm packages excepted: those are refused only by `never`.
 */
const rooms: Record<string, { may: RegExp[]; never?: RegExp[] }> = {
  lib: { may: [/^src\/lib\//, /^gen\/google\//, /^gen\/signpost\/v1\/error_reason_pb/] },
  model: { may: [/^src\/(model|lib)\//], never: [/./] },
  // The engine of workflows, which visits and simulations run alike: pure, like what it stands on.
  workflow: { may: [/^src\/(workflow|model|lib)\//], never: [/^(?!libphonenumber-js)/] },
  db: { may: [/^src\/(db|model|lib)\//, /^gen\/database\.ts$/], never: [/^@connectrpc\//, /^@bufbuild\//] },
  qr: { may: [/^src\/(qr|lib)\//], never: [/^(kysely|pg|@connectrpc\/|@bufbuild\/)/] },
  // Reads requests, in bytes or in JSON, under the limits of their fields.
  wire: { may: [/^src\/(wire|lib)\//, /^gen\/(google|buf)\//], never: [/^(kysely|pg|@connectrpc\/)/] },
  rest: {
    may: [/^src\/(rest|wire|lib)\//, /^src\/rpc\/call\.ts$/, /^gen\/google\//],
    never: [/^(kysely|pg)$/],
  },
  rpc: { may: [/^src\/(rpc|wire|db|model|lib)\//, /^gen\//] },
  api: {
    may: [
      /^src\/(db|workflow|model|qr|lib)\//,
      /^src\/api\/(deps|visitor-parts)\.ts$/,
      /^src\/rpc\/handlers\.ts$/,
      /^gen\//,
    ],
  },
  scan: {
    may: [/^src\/(scan|db|workflow|model|lib)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  jobs: {
    may: [/^src\/(jobs|db|qr|workflow|model|lib)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//],
  },
  // Makes gen/openapi.json of what the other rooms know; nothing of it runs in the service.
  openapi: {
    may: [
      /^src\/(rest|model|lib)\//,
      /^src\/rpc\/(access|deprecation)\.ts$/,
      /^src\/server\/limits\.ts$/,
      /^gen\//,
    ],
    never: [/^(kysely|pg|@connectrpc\/)/],
  },
  server: { may: [/^src\/(server|lib)\//, /^src\/rpc\/call\.ts$/], never: [/^(kysely|pg)$/] },
  cli: { may: [/^src\//, /^gen\//] },
  roles: { may: [/^src\//, /^gen\//] },
};

interface Import {
  readonly file: string;
  readonly target: string;
  readonly npm: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const specifiers = [...text.matchAll(/^(?:import|export)\s(?:[^"';]*?\sfrom\s)?"([^"]+)"/gm)].map(
    (match) => match[1] ?? "",
  );
  return specifiers.flatMap((specifier): Import[] => {
    if (specifier.startsWith("node:")) return [];
    if (!specifier.startsWith(".")) return [{ file, target: specifier, npm: true }];
    return [{ file, target: relative(root, join(root, dirname(file), specifier)), npm: false }];
  });
}

/** The folder whose files may import each other: a slice of api, else the room. */
function home(file: string): string {
  const [, room, slice] = file.split("/");
  return room === "api" ? `src/api/${slice}/` : `src/${room}/`;
}

const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && file.includes("/"))
  .map((file) => `src/${file}`);

/** The one list of services names every slice, and the page of what is not built is made from it. */
const aboveSlices = ["src/api/services.ts", "build/write-unbuilt.ts"];

function refusals(file: string): string[] {
  if (aboveSlices.includes(file)) return [];
  const rule = rooms[file.split("/")[1] ?? ""];
  if (rule === undefined) return [`${file}: stands in no known room`];
  return importsOf(file)
    .filter(({ target, npm }) =>
      npm
        ? rule.never?.some((pattern) => pattern.test(target))
        : !target.startsWith(home(file)) && !rule.may.some((pattern) => pattern.test(target)),
    )
    .map(({ target }) => `${file} must not import ${target}`);
}

test("every file imports only what its room may know", () => {
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.flatMap(refusals)).toEqual([]);
});

test("the environment is read in main and config only, and nobody but they asks the clock or the dice", () => {
  const offenders = sources.filter((file) => {
    if (/^src\/(lib|cli)\//.test(file) || file === "build/database-types.ts") return false;
    const text = readFileSync(join(root, file), "utf8");
    return /process\.env|Math\.random\(|Date\.now\(/.test(text);
  });
  expect(offenders).toEqual([]);
});

// Tables that no tenant owns; every other primary key, unique key and index begins with workspace_id.
const globalTables = [
  "blocked_hosts",
  "changed_scopes",
  "domain_names",
  "member_emails",
  "qrcode_template_slugs",
  "revocations",
  "shortlinks",
  "workspaces",
];

test("every key and index of a tenant table begins with workspace_id", async () => {
  const { pool } = await testDatabase();
  const { rows } = await pool.query<{ table: string; index: string; first: string }>(`
    select c.relname as table, i.relname as index, a.attname as first
    from pg_index x
    join pg_class c on c.oid = x.indrelid
    join pg_class i on i.oid = x.indexrelid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = x.indkey[0]
    where c.relnamespace = 'public'::regnamespace and c.relname not like 'kysely%'
    order by 1, 2`);
  expect(rows.length).toBeGreaterThan(30);
  const wrong = rows.filter(({ table, first }) => !globalTables.includes(table) && first !== "workspace_id");
  expect(wrong).toEqual([]);
});
