import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testDatabase } from "../support/test-database.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Which imports are allowed. A room is a folder of src, or the build tools. A single file is named where only that file
 * may be imported. Every import that is not listed is refused, except npm packages: those are refused only by `never`.
 */
const rooms: Record<string, { may: RegExp[]; never?: RegExp[] }> = {
  lib: { may: [/^src\/lib\//, /^gen\/google\//, /^gen\/signpost\/v1\/error_reason_pb/] },
  model: { may: [/^src\/(model|lib)\//], never: [/./] },
  // The engine of workflows, which visits and simulations share. It is pure, like the rooms it imports.
  workflow: { may: [/^src\/(workflow|model|lib)\//], never: [/^(?!libphonenumber-js)/] },
  // Which visits belong to which visitor: identifying, merging, counting. The API, the scan runtime and the jobs use
  // it.
  visitors: {
    may: [/^src\/(visitors|db|model|lib)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  // What can be asked about counted visits, and what answers it. No SQL leaves it.
  analytics: {
    may: [/^src\/(analytics|visitors|db|model|lib)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  // Files of events, from the rows of the database to CSV, JSON and Parquet. A thread of its own runs it.
  exports: { may: [/^src\/(exports|db|model|lib)\//, /^gen\//], never: [/^@connectrpc\//] },
  // Who the people of a workspace are and how they prove it: passwords, challenges by mail, sessions. The API, the sign-in
  // pages and the pipeline use it.
  people: {
    may: [/^src\/(people|db|model|lib)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  // The authorization server for programs that act for members: clients, grants, tokens, and the keys that sign them.
  oauth: {
    may: [/^src\/(oauth|people|db|model|lib)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  // Programs that make a workspace of their own, and the people who claim it.
  agents: {
    may: [/^src\/(agents|oauth|people|db|model|lib)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  // Programs of others that a workspace connects: how it is authorized there, and how they are called.
  integrations: {
    may: [/^src\/(integrations|visitors|workflow|db|model|lib)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  // The names that workspaces bring: who has one, where it leads, and what follows from it.
  domains: {
    may: [/^src\/(domains|db|model|lib)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  // How certificates are got from authorities, kept, and found for a name.
  certificates: {
    may: [/^src\/(certificates|db|model|lib)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  // What a language model may do for a caller, and how it is asked. Its tools are operations of the API, which it reaches only
  // through what the API gives it.
  assistant: {
    may: [/^src\/(assistant|lib)\//, /^gen\/signpost\//],
    never: [/^(kysely|pg|@connectrpc\/.*)$/],
  },
  // The texts of mails, and how they are sent.
  mail: {
    may: [/^src\/(mail|people|db|model|lib)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  // What is told to webhooks and integrations, when, and how often. It makes messages of the objects of the API.
  outbox: {
    may: [
      /^src\/(outbox|db|model|lib)\//,
      /^src\/api\/(resources\/|events\/(message|queries)\.ts$)/,
      /^src\/rest\/write-message\.ts$/,
      /^gen\//,
    ],
    never: [/^@connectrpc\//],
  },
  // What every page looks like: its frame, style and drawings. It knows no words.
  pages: { may: [/^src\/(pages|model|lib)\//, /^gen\/fonts\.ts$/], never: [/^(?!hono\/html$)/] },
  // The pages that visitors see, in words. A page is drawn without a visit, a link or a database, so that previews and
  // thumbnails show what visitors see.
  hosted: {
    may: [/^src\/(hosted|pages|workflow|model|lib)\//],
    never: [/^(?!hono\/html$|libphonenumber-js\/min$)/],
  },
  // The pages at which people sign in, and the same as JSON.
  auth: {
    may: [/^src\/(auth|oauth|pages|people|db|model|lib|agents)\//, /^gen\/database\.ts$/],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  db: { may: [/^src\/(db|model|lib)\//, /^gen\/database\.ts$/], never: [/^@connectrpc\//, /^@bufbuild\//] },
  qr: { may: [/^src\/(qr|lib)\//], never: [/^(kysely|pg|@connectrpc\/|@bufbuild\/)/] },
  // Draws numbers as pictures. It knows where no number comes from.
  charts: { may: [/^src\/(charts|model|lib)\//], never: [/^(?!d3-(array|shape)$|sharp$)/] },
  // Reads requests, in bytes or in JSON, within the limits of their fields.
  wire: { may: [/^src\/(wire|lib)\//, /^gen\/(google|buf)\//], never: [/^(kysely|pg|@connectrpc\/)/] },
  rest: {
    may: [/^src\/(rest|wire|lib)\//, /^src\/rpc\/call\.ts$/, /^gen\/google\//],
    never: [/^(kysely|pg)$/],
  },
  // Tools, prompts and resources for models. It calls operations as every protocol does.
  mcp: {
    may: [
      /^src\/(mcp|wire|lib)\//,
      /^src\/rest\/(binding|body|decode|encode|error-body)\.ts$/,
      /^src\/rpc\/(access|call|handlers)\.ts$/,
      // Tasks read their arguments and keys by the rules of all requests.
      /^src\/rpc\/pipeline\/(validate|idempotency)\.ts$/,
      /^gen\//,
    ],
    never: [/^(kysely|pg|@connectrpc\/)/],
  },
  rpc: { may: [/^src\/(rpc|wire|oauth|people|db|model|lib)\//, /^gen\//] },
  api: {
    may: [
      /^src\/(analytics|visitors|oauth|people|integrations|assistant|db|hosted|pages|workflow|model|qr|charts|lib|agents|domains)\//,
      // Who subscribes is the API's to say, and the senders stand beside their operations.
      /^src\/outbox\/(sender|subscribers|queue-again|message-body|schedule)\.ts$/,
      // A domain that has passed its checks wants a certificate.
      /^src\/certificates\/want-certificate\.ts$/,
      // The slices do not import each other. They share the code that turns a record into its message, and a refusal.
      /^src\/api\/(deps\.ts$|resources\/)/,
      /^src\/rpc\/handlers\.ts$/,
      /^gen\//,
    ],
  },
  scan: {
    may: [
      /^src\/(scan|hosted|pages|visitors|db|workflow|model|lib)\//,
      /^src\/outbox\/queue-steps\.ts$/,
      /^gen\/database\.ts$/,
    ],
    never: [/^@connectrpc\//, /^@bufbuild\//],
  },
  jobs: {
    may: [
      /^src\/(jobs|analytics|exports|mail|oauth|people|integrations|visitors|db|hosted|pages|qr|workflow|model|lib|agents|domains)\//,
      /^gen\/database\.ts$/,
    ],
    never: [/^@connectrpc\//],
  },
  // Makes the files of gen, and the bundle, with code of the other rooms. It never runs in the service.
  build: {
    may: [
      /^src\/(rest|model|lib)\//,
      /^src\/rpc\/(access|deprecation)\.ts$/,
      /^src\/server\/limits\.ts$/,
      // The list of services and the schema come from the rooms that own them.
      /^src\/api\/services\.ts$/,
      /^src\/db\/(open|migrate|embedded\/embedded)\.ts$/,
      /^gen\//,
    ],
    never: [/^@connectrpc\//],
  },
  server: {
    may: [/^src\/(server|lib)\//, /^src\/rpc\/call\.ts$/, /^gen\/fonts\.ts$/],
    never: [/^(kysely|pg)$/],
  },
  cli: { may: [/^src\//, /^gen\//] },
  // Puts the program together; only main.ts imports it.
  service: { may: [/^src\//, /^gen\//] },
};

/**
 * The wings of rooms with several, and which of the room's other wings each may import; `.` stands for the files beside
 * the wings. So code of `scan/first` runs only before a visitor's answer. `storeOfAnsweringThread` lists the code of
 * `scan/store` that may run in the answering thread.
 */
const wings: Record<string, Record<string, readonly string[]>> = {
  scan: {
    ".": ["first", "steps", "plans", "visit", "spool", "store", "device", "pages"],
    // Visits of invented people, which the API asks for.
    simulated: ["spool", "store", "device"],
    // Of the store it knows only the type of the drain, which tells when earlier visits are stored.
    first: [".", "visit", "spool", "store", "device", "pages"],
    steps: ["visit", "spool", "store", "device", "pages"],
    // Where a visit stands, and the seal in which it travels.
    visit: [],
    plans: [],
    spool: ["device"],
    store: ["spool", "device"],
    device: [],
    pages: [],
  },
  rpc: { ".": ["pipeline"], pipeline: ["."], protocols: ["."] },
  qr: { drawing: [], gate: ["drawing"], designs: ["drawing"] },
};

/**
 * The files of `scan/store` that the answering thread loads: those that hand records to the storing thread. All others
 * run only in the storing thread, where a slow statement delays no visitor.
 */
const storeOfAnsweringThread = ["drain.ts", "quarantine.ts", "store-thread.ts"].map(
  (name) => `src/scan/store/${name}`,
);

interface Import {
  readonly file: string;
  readonly target: string;
  readonly npm: boolean;
  /** Whether only types are imported, so that the file is not loaded. */
  readonly isType: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = [...text.matchAll(/^(?:import|export)\s(type\s)?(?:[^"';]*?\sfrom\s)?"([^"]+)"/gm)];
  return found.flatMap(([, type, specifier = ""]): Import[] => {
    const isType = type !== undefined;
    if (specifier.startsWith("node:")) return [];
    if (!specifier.startsWith(".")) return [{ file, target: specifier, npm: true, isType }];
    return [{ file, target: relative(root, join(root, dirname(file), specifier)), npm: false, isType }];
  });
}

/** The folder whose files may import each other: a slice of api, or else the room. */
function home(file: string): string {
  const [top, room, slice] = file.split("/");
  if (top === "build") return "build/";
  return room === "api" ? `src/api/${slice}/` : `src/${room}/`;
}

function sourcesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => `${folder}/${file}`);
}

const sources = sourcesIn("src").filter((file) => file !== "src/main.ts");

/** The one list of services imports every slice. */
const aboveSlices = ["src/api/services.ts"];

function refusals(file: string): string[] {
  if (aboveSlices.includes(file)) return [];
  const [top = "", room = ""] = file.split("/");
  const rule = rooms[top === "build" ? top : room];
  if (rule === undefined) return [`${file}: stands in no known room`];
  return importsOf(file)
    .filter(({ target, npm }) =>
      npm
        ? rule.never?.some((pattern) => pattern.test(target))
        : !target.startsWith(home(file)) && !rule.may.some((pattern) => pattern.test(target)),
    )
    .map(({ target }) => `${file} must not import ${target}`);
}

test("every file imports only what its room may import", () => {
  expect(sources.length).toBeGreaterThan(50);
  expect([...sources, ...sourcesIn("build")].flatMap(refusals)).toEqual([]);
});

function wingOf(file: string): string {
  const parts = file.split("/");
  return parts.length > 3 ? (parts[2] ?? ".") : ".";
}

test("every file imports only those wings of its room that its own wing may import", () => {
  const found = sources.flatMap((file) => {
    const room = file.split("/")[1] ?? "";
    const may = wings[room]?.[wingOf(file)];
    if (wings[room] === undefined) return [];
    if (may === undefined) return [`${file}: stands in no known wing`];
    return importsOf(file)
      .filter(({ target }) => target.startsWith(`src/${room}/`) && wingOf(target) !== wingOf(file))
      .filter(({ target }) => !may.includes(wingOf(target)))
      .map(({ target }) => `${file} must not import ${target}`);
  });
  expect(found).toEqual([]);
});

test("the answering thread loads only the listed files of scan/store", () => {
  const answering = sources.filter(
    (file) => !file.startsWith("src/scan/store/") || storeOfAnsweringThread.includes(file),
  );
  const loaded = answering
    .flatMap(importsOf)
    .filter(({ target, isType }) => target.startsWith("src/scan/store/") && !isType);
  expect(new Set(loaded.map(({ target }) => target))).toEqual(new Set(storeOfAnsweringThread));
});

test("the SQL of the API stands in files of queries and writes", () => {
  const elsewhere = sourcesIn("src/api").filter((file) => !/(queries|writes)\.ts$/.test(file));
  const statement = /\bsql(?:<[^`]*>)?`|\.(?:selectFrom|insertInto|updateTable|deleteFrom)\(/;
  expect(elsewhere.filter((file) => statement.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
});

test("no folder has more than about twenty files besides tests", () => {
  const counts = new Map<string, number>();
  for (const file of sources) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > 22)).toEqual([]);
});

test("only main and config read the environment, and only allowed files read the clock or random numbers", () => {
  const offenders = sources.filter((file) => {
    if (/^src\/(lib|cli)\//.test(file)) return false;
    const text = readFileSync(join(root, file), "utf8");
    return /process\.env|Math\.random\(|Date\.now\(/.test(text);
  });
  expect(offenders).toEqual([]);
});

// Tables that no tenant owns; every other primary key, unique key and index begins with workspace_id.
const globalTables = [
  "blocked_hosts",
  "certificate_authorities",
  "certificate_challenges",
  "certificates",
  "changed_scopes",
  "domain_names",
  "member_emails",
  "oauth_clients",
  "oauth_keys",
  "page_theme_template_slugs",
  "qrcode_template_slugs",
  "revocations",
  "shortlinks",
  "workspaces",
];

// What one workspace publishes, all others may find, and their links may have. All workspaces of one Slack team have the same token.
const indexesOverTenants = [
  "links_published_page_theme_template_idx",
  "links_published_template_idx",
  "page_theme_templates_published_look_idx",
  "slack_integrations_token_idx",
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
  expect(wrong.map(({ index }) => index)).toEqual(indexesOverTenants);
});
