import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { restApi } from "../../../test/support/rest-api.ts";
import { root, type Service, startService } from "../../../test/support/start-service.ts";
import { main } from "../main-line.ts";
import { readCsvRows } from "./csv-rows.ts";

let service: Service;
let folder: string;
let env: Readonly<Record<string, string>>;
let api: ReturnType<typeof restApi>;

beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), "signpost-import-"));
  return async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  };
});

// Every test has a workspace of its own, so that it can count all links.
beforeEach(async () => {
  const made = await run(
    ["workspace", "create", "--name", "Import", "--email", `${crypto.randomUUID()}@a.example`],
    {
      ...service.env,
    },
  );
  const { accessToken } = JSON.parse(made.stdout);
  env = { SIGNPOST_URL: service.baseUrl, SIGNPOST_TOKEN: accessToken, XDG_CONFIG_HOME: folder };
  api = restApi(service.baseUrl, accessToken);
});

async function run(args: readonly string[], environment: Readonly<Record<string, string>> = env) {
  const printed = { stdout: "", stderr: "", bar: [] as string[] };
  const exitCode = await main(args, {
    env: environment,
    width: 100,
    write: (line) => {
      printed.stdout += line;
    },
    report: (line) => {
      printed.stderr += `${line}\n`;
    },
    redraw: (line) => printed.bar.push(line),
  });
  return { exitCode, ...printed };
}

/** Imports a file with this content. */
async function importFile(content: string | Uint8Array, ...flags: string[]) {
  const file = join(folder, `${crypto.randomUUID()}.csv`);
  await writeFile(file, content);
  return run(["links", "import", file, ...flags]);
}

async function total(): Promise<number> {
  return Number((await api.call<{ totalCount: string }>("GET", "/v1/links?pageSize=1")).totalCount);
}

async function makeDirectory(request: object): Promise<string> {
  const { directory } = await api.call<{ directory: { id: string } }>("POST", "/v1/directories", request);
  return directory.id;
}

/** A file whose rows have these short links. */
function fileOf(shortlinks: readonly string[]): string {
  const rows = shortlinks.map((shortlink) => `https://example.com/menu,${shortlink}`);
  return ["destination,shortlink", ...rows, ""].join("\n");
}

function shortlinksOf(count: number): string[] {
  const mark = crypto.randomUUID().slice(0, 8);
  return Array.from({ length: count }, (_, index) => `${mark}-${index}`);
}

test("each 250 rows are made by a job, and the same import again makes nothing twice", async () => {
  const file = fileOf(shortlinksOf(600));
  const first = await importFile(file, "--watch");
  expect(first).toMatchObject({ exitCode: 0, stdout: "", stderr: "600 links made by 3 jobs.\n" });
  expect(first.bar.at(-2)).toBe(`[${"#".repeat(30)}] 100 %  600 links made, 0 jobs running`);
  const again = await importFile(file, "--watch");
  expect(again.stderr).toBe("600 links made by 3 jobs, 600 of them by an earlier import.\n");
  expect(await total()).toBe(600);
});

test("rows without a short link of their own are made once too, however equal they are", async () => {
  const file = `destination\n${"https://example.com/\n".repeat(510)}`;
  await importFile(file, "--watch");
  await importFile(file, "--watch");
  expect(await total()).toBe(510);
  await importFile(file, "--watch", "--idempotency-key", "another-import");
  expect(await total()).toBe(1_020);
});

test("a file of a spreadsheet is read as it is: mark of the encoding, CRLF, semicolons, quotes, umlauts, empty rows", async () => {
  const markets = await makeDirectory({ name: "Märkte" });
  const south = await makeDirectory({ name: "Süd", parentDirectoryId: markets });
  const rows = [
    "Destination;Name;Tags;Directory;Expires at;Conversion tracking;metadata.Farbe;metadata.size",
    'https://example.com/äpfel;"Äpfel; ""reif""\r\nund rot";süß, rot;Märkte/Süd;2999-01-31;TRUE;grün;',
    "",
    ";;;;;;;",
    'https://example.com/2;;"a;b";;;;;XL',
  ];
  const { exitCode, stderr } = await importFile(`\ufeff${rows.join("\r\n")}\r\n`, "--watch");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "2 links made by 1 job.\n" });
  const { links } = await api.call("GET", "/v1/links?include=tags");
  const apples = links.find(({ name }) => name.startsWith("Äpfel"));
  const other = links.find((each) => each !== apples);
  expect(apples).toMatchObject({
    name: 'Äpfel; "reif"\nund rot',
    directoryId: south,
    expiresAt: "2999-01-31T00:00:00Z",
    metadata: { Farbe: "grün" },
    tags: [{ name: "süß" }, { name: "rot" }],
  });
  expect(other).toMatchObject({
    name: "example.com",
    metadata: { size: "XL" },
    tags: [{ name: "a" }, { name: "b" }],
  });
});

test("a dry run names every bad row by line and column, and makes nothing", async () => {
  const rows = [
    "destination,name,shortlink,tags,expiresAt,directory,conversion_tracking",
    "https://example.com/,good,,,,,",
    "nowhere,,,,,,",
    '"https://example.com/",,-bad-,,,,',
    `https://example.com/,${"x".repeat(256)},,,yesterday,,`,
    '"https://example.com/","two\nlines",,,2001-01-01,,perhaps',
    "https://example.com/,,,,,No/Such,",
    ",only a name,,,,,",
    "https://example.com/,,,,,,,too,many",
  ];
  const { exitCode, stdout, stderr } = await importFile(rows.join("\n"), "--dry-run");
  expect(exitCode).toBe(2);
  expect(stdout.split("\n")).toEqual([
    "line 3, column destination: must begin with a scheme, such as https://example.com",
    expect.stringMatching(/^line 4, column shortlink: must be 1 to 64 letters/),
    expect.stringMatching(/^line 5, column (name|expiresAt): /),
    expect.stringMatching(/^line 6, column conversion_tracking: must be true or false$/),
    expect.stringMatching(/^line 6, column expiresAt: must be in the future$/),
    'line 8, column directory: there is no directory "No/Such"',
    expect.stringMatching(/^line 9, column destination: /),
    "line 10 has 9 cells, but the file has 7 columns",
    "",
  ]);
  expect(stderr).toContain("1 row of 8 can be links; nothing was made.");
  expect(await total()).toBe(0);
  expect(await importFile(fileOf(shortlinksOf(300)), "--dry-run")).toMatchObject({ exitCode: 0, stdout: "" });
  expect(await total()).toBe(0);
});

test("an import stops before the portion with a bad row, says where, and goes on once it is mended", async () => {
  const rows = shortlinksOf(600);
  const bad = await importFile(fileOf(rows.with(300, "-bad-")), "--watch");
  expect(bad.exitCode).toBe(2);
  expect(bad.stderr).toContain("250 links made by 1 job.");
  expect(bad.stderr).toContain("--from-line 252");
  expect(bad.stderr).toMatch(/BAD_ROWS: a row is wrong\n {2}line 302, column shortlink: must be 1 to 64/);
  expect(await total()).toBe(250);
  const mended = await importFile(fileOf(rows), "--watch");
  expect(mended.stderr).toBe("600 links made by 3 jobs, 250 of them by an earlier import.\n");
  expect(await total()).toBe(600);
});

test("what the service refuses is named by line and column too, and its portion is tried again", async () => {
  const rows = shortlinksOf(260);
  const taken = await api.call("POST", "/v1/links", {
    destination: "https://example.com/",
    shortlink: rows[254],
  });
  const refused = await importFile(fileOf(rows), "--watch");
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(/signpost: SHORTLINK_TAKEN: line 256, column shortlink: /);
  expect(await total()).toBe(251);
  // The same rows: only what stood in their way is gone.
  const again = await importFile(fileOf(rows.with(254, "")), "--watch");
  expect(again.stderr).toBe("260 links made by 2 jobs, 250 of them by an earlier import.\n");
  expect(await total()).toBe(261);
  expect((await api.call("GET", `/v1/links/${taken.link.id}`)).link.id).toBe(taken.link.id);
});

test("a job that failed without a fault of its rows is tried again by the same command", async () => {
  const id = await makeDirectory({ name: "Late" });
  const file = `destination,directoryId\nhttps://example.com/,${id}\n`;
  await api.call("DELETE", `/v1/directories/${id}`);
  const failed = await importFile(file, "--watch");
  expect(failed.stderr).toContain("NOT_FOUND: line 2, column directoryId: ");
  expect((await importFile(file, "--watch")).exitCode).toBe(failed.exitCode);
  expect(await total()).toBe(0);
});

test("--from-line leaves out earlier rows, and without --watch the jobs are named and go on alone", async () => {
  const rows = shortlinksOf(510);
  const queued = await importFile(fileOf(rows), "--from-line", "252");
  expect(queued.exitCode).toBe(0);
  expect(queued.stdout).toMatch(/^lines 252 to 501: job \S{36}\nlines 502 to 511: job \S{36}\n$/);
  expect(queued.stderr).toBe("2 jobs queued. The same command with --watch waits for them.\n");
  const whole = await importFile(fileOf(rows), "--watch");
  expect(whole.stderr).toBe("510 links made by 3 jobs, 260 of them by an earlier import.\n");
  expect(await total()).toBe(510);
});

test("the standard input is imported with -", async () => {
  const child = spawn(
    process.execPath,
    [join(root, "src/cli/signpost.ts"), "links", "import", "-", "--watch"],
    {
      env: { PATH: process.env.PATH, HOME: folder, ...env },
      stdio: ["pipe", "ignore", "pipe"],
    },
  );
  child.stdin.end(fileOf(shortlinksOf(3)));
  expect(await text(child.stderr)).toBe("3 links made by 1 job.\n");
  if (child.exitCode === null) await once(child, "exit");
  expect([child.exitCode, await total()]).toEqual([0, 3]);
});

test.each([
  ["", "the file is empty: its first row must name the columns"],
  ["destnation\nhttps://a.example\n", 'there is no column "destnation"; did you mean "destination"?'],
  ["destination,colour\n", 'there is no column "colour"; there are destination, name, shortlink,'],
  ["destination,,name\n", "column 2 has no name"],
  ["name,shortlink\n", "there is no column destination"],
  [
    "destination,expiresAt,expires-at\n",
    'column "expires-at" fills a field that another column fills already',
  ],
  [
    "destination,directory,directoryId\n",
    'column "directoryId" fills a field that another column fills already',
  ],
  ["destination,waitForQrcode\n", 'there is no column "waitForQrcode"'],
  ['destination\nhttps://a.example\n"https://b.example\n', "line 3: a quote is open that nothing closes"],
  ['destination\nhttps://a.example/"x"\n', "line 2: a cell with quotes must stand in quotes as a whole"],
  [Buffer.from("destination,name\nhttps://a.example,M\xe4rkte\n", "latin1"), "the file is not in UTF-8"],
])(
  "a file that cannot be read is refused with the reason, and nothing is made: %j",
  async (content, message) => {
    const { exitCode, stderr } = await importFile(content, "--watch");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(`signpost: ${message}`),
    });
    expect(await total()).toBe(0);
  },
);

test("wrong command lines are refused", async () => {
  for (const args of [
    [],
    ["a.csv", "b.csv"],
    ["/no/such/file.csv"],
    [folder],
    ["--frobnicate"],
    ["-", "--from-line", "0"],
  ])
    expect(await run(["links", "import", ...args])).toMatchObject({ exitCode: 2, stdout: "" });
  expect((await run(["links", "import", "--help"])).stdout).toContain("metadata.<key>");
  expect((await run(["links", "--help"])).stdout).toContain("import FILE.csv|-");
});

test("a file of any size is read a piece at a time", async () => {
  let pieces = 0;
  async function* endless() {
    yield Buffer.from("destination,name\n");
    for (;;) {
      pieces += 1;
      yield Buffer.from(`https://example.com/${pieces},${"n".repeat(1_000)}\n`);
    }
  }
  let rows = 0;
  for await (const { line } of readCsvRows(endless())) {
    rows += 1;
    if (line === 5_000) break;
  }
  expect(rows).toBe(5_000);
  // What streams hold between the file and the reader.
  expect(pieces - rows).toBeLessThan(1_000);
});
