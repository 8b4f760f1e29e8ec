import { execFile, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { verifyWebhook } from "../../sdk/typescript/src/webhook.ts";
import { startReceiver } from "../../test/support/receiver.ts";
import { restApi } from "../../test/support/rest-api.ts";
import { root, type Service, startService } from "../../test/support/start-service.ts";

const script = join(root, "src/cli/signpost.ts");

let service: Service;
let home: string;

beforeAll(async () => {
  service = await startService({ env: { ALLOWED_PRIVATE_NETWORKS: "127.0.0.1/32" } });
  home = await mkdtemp(join(tmpdir(), "signpost-cli-"));
  return async () => {
    await service.stop();
    await rm(home, { recursive: true, force: true });
  };
});

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Runs a program; it finds the service by SIGNPOST_* unless another environment is given. */
function execute(
  program: string,
  args: readonly string[],
  { env, input = "" }: Surroundings = {},
): Promise<Ended> {
  const { baseUrl, credentials } = service;
  const named = env ?? { SIGNPOST_URL: baseUrl, SIGNPOST_TOKEN: credentials.accessToken };
  return new Promise((resolve) => {
    const options = { cwd: home, env: { PATH: process.env.PATH ?? "", HOME: home, ...named } };
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

function signpost(args: readonly string[], surroundings?: Surroundings): Promise<Ended> {
  return execute(process.execPath, [script, ...args], surroundings);
}

test("a link is made with flags and shown as a record, or as the JSON of REST", async () => {
  const flags = ["--destination", "https://example.com/menu", "--tags", "a,b", "--metadata", "k=v"];
  const made = await signpost(["links", "create", ...flags, "--shortlink", "cli-menu"]);
  expect(made).toMatchObject({ exitCode: 0, stderr: "" });
  expect(made.stdout).toMatch(/^shortlink +cli-menu$/m);
  const id = /^id +(\S+)$/m.exec(made.stdout)?.[1] ?? "";
  const { stdout } = await signpost(["links", "get", id, "--include", "tags", "--json"]);
  const api = restApi(service.baseUrl, service.credentials.accessToken);
  expect(JSON.parse(stdout)).toEqual(await api.call("GET", `/v1/links/${id}?include=tags`));
  expect(JSON.parse(stdout).link).toMatchObject({
    metadata: { k: "v" },
    tags: [{ name: "a" }, { name: "b" }],
  });
});

test("a request is read from standard input, flags override it, and an empty text clears a field", async () => {
  const body = JSON.stringify({ destination: "https://example.com/", name: "from the file", purpose: "p" });
  const args = ["links", "create", "--body", "-", "--name", "from the flag", "--json"];
  const { link } = JSON.parse((await signpost(args, { input: body })).stdout);
  expect(link).toMatchObject({ name: "from the flag", purpose: "p" });
  const cleared = await signpost(["links", "update", link.id, "--purpose", "", "--json"]);
  expect(JSON.parse(cleared.stdout).link).toMatchObject({ name: "from the flag", purpose: "" });
});

test("a list is one page or all of them, as a table, as JSON and as CSV", async () => {
  const { signpost: own, api } = await ownWorkspace();
  const made = [];
  for (const shortlink of ["cli-1", "cli-2", "cli-3"]) made.push((await api.createLink({ shortlink })).id);
  const page = await own(["links", "list", "--page-size", "2"]);
  expect(page.stdout).toMatch(/^ID +NAME +SHORTLINK/);
  expect(page.stdout).toMatch(/\n\n2 of 3 links; more with --all or --page-token \S+\n$/);
  const all = await own(["links", "list", "--page-size", "1", "--all"]);
  expect(all.stdout.match(/^[0-9a-f-]{36} /gm)).toHaveLength(3);
  expect(all.stdout).toMatch(/\n\n3 links\n$/);
  const json = JSON.parse((await own(["links", "list", "--page-size", "1", "--all", "--json"])).stdout);
  expect(json.links.map(({ id }: { id: string }) => id).sort()).toEqual(made.sort());
  expect(json.nextPageToken).toBe("");
  const csv = await own(["events", "list", "--csv", "--all", "--page-size", "1"]);
  expect(csv.stdout).toMatch(/^id,.*\r\n$/);
});

/** A workspace that no other test writes to. */
async function ownWorkspace() {
  const args = ["workspace", "create", "--name", "Own", "--email", "own@example.com"];
  const { accessToken } = JSON.parse((await signpost(args, { env: service.env })).stdout);
  const env = { SIGNPOST_URL: service.baseUrl, SIGNPOST_TOKEN: accessToken };
  return {
    signpost: (line: readonly string[]) => signpost(line, { env }),
    api: restApi(service.baseUrl, accessToken),
  };
}

test("numbers are drawn with --chart, by the short words for analytics, and a picture is written as its bytes", async () => {
  const drawn = await signpost(["analytics", "breakdown", "--dimension", "country", "--chart"]);
  expect(drawn).toMatchObject({ exitCode: 0, stdout: "no numbers in this range\n", stderr: "" });
  const days = ["--start-date", "2026-03-01T00:00:00Z", "--end-date", "2026-03-04T23:00:00Z"];
  const visits = await signpost([
    "analytics",
    "visitor-trends",
    "--interval-in-minutes",
    "1440",
    ...days,
    "--chart",
  ]);
  expect(visits.stdout).toMatch(/^new visitors: 0 in all/);
  const both = await signpost(["analytics", "breakdown", "--dimension", "country", "--chart", "--json"]);
  expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--chart excludes --json") });
  const none = await signpost(["links", "list", "--chart"]);
  expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("no rows of numbers") });
  const made = await signpost(["analytics-dashboard", "create", "--use-default-widgets", "--json"]);
  const { id } = JSON.parse(made.stdout).dashboard;
  const picture = await signpost(["analytics", "widget-picture", id, "countries.svg", "--theme", "dark"]);
  expect(picture.stdout).toMatch(/^<svg [^>]*><title>Countries<\/title>.*<\/svg>$/s);
});

test("an export is waited for, and its file written, with --output; answers of analytics are tables with --csv", async () => {
  const file = join(home, "events.csv.gz");
  const args = ["exports", "create", "--format", "csv", "--output", file, "--json"];
  const made = await signpost(args);
  expect(made).toMatchObject({ exitCode: 0 });
  const { status, size } = JSON.parse(made.stdout);
  expect([status, size]).toEqual(["JOB_STATUS_SUCCEEDED", String((await stat(file)).size)]);
  expect(gunzipSync(await readFile(file)).toString()).toMatch(/^id,workspaceId,/);
  await expect(stat(`${file}.part`)).rejects.toThrow("ENOENT");
  const csv = await signpost(["analytics", "breakdown", "--dimension", "country", "--csv"]);
  expect(csv).toEqual({ exitCode: 0, stdout: "label,code,eventCount,percentage\r\n", stderr: "" });
  const none = await signpost(["links", "list", "--output", file]);
  expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("has no file") });
});

test("many links are made from a file with the body of REST, or by a job that --watch follows to its end", async () => {
  const list = JSON.stringify([{ destination: "https://a.example" }, { destination: "https://b.example" }]);
  const batch = await signpost(["links", "create-batch", "--body", "-", "--json"], { input: list });
  expect(JSON.parse(batch.stdout).links).toHaveLength(2);
  const job = await signpost(["links", "create-bulk-job", `--links=${list}`, "--watch", "--json"]);
  expect(job.exitCode).toBe(0);
  const { status, linksBulkCreate } = JSON.parse(job.stdout);
  expect(status).toBe("JOB_STATUS_SUCCEEDED");
  expect(linksBulkCreate.linkIds).toHaveLength(2);
});

test("a job that --watch sees fail ends the command with 1, the reason and the bad field", async () => {
  const links = '[{"destination":"https://a.example"},{"destination":"nowhere"}]';
  const job = await signpost(["links", "create-bulk-job", `--links=${links}`, "--watch"]);
  expect(job.exitCode).toBe(1);
  expect(job.stdout).toMatch(/^status +FAILED$/m);
  expect(job.stderr).toMatch(/^signpost: INVALID_DESTINATION: links\[1\]\.destination/m);
});

test("wrong command lines, wrong tokens and missing records have their own exit codes and messages", async () => {
  const missing = await signpost(["links", "create"]);
  expect(missing).toMatchObject({ exitCode: 2, stdout: "" });
  expect(missing.stderr).toContain("--destination is missing");
  const unknown = await signpost(["links", "get", "0190d3a0-0000-7000-8000-000000000000"]);
  expect(unknown).toMatchObject({ exitCode: 4, stdout: "" });
  expect(unknown.stderr).toMatch(/^signpost: NOT_FOUND: .*\n +request id: \S+\n$/);
  const bad = await signpost(["links", "create", "--destination", "javascript:1"]);
  expect(bad).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("INVALID_DESTINATION") });
  const stranger = { SIGNPOST_URL: service.baseUrl, SIGNPOST_TOKEN: "wrong" };
  expect(await signpost(["links", "list"], { env: stranger })).toMatchObject({ exitCode: 3, stdout: "" });
  expect(await signpost(["frobnicate"])).toMatchObject({ exitCode: 2 });
});

test("login stores a valid token readable by its owner alone, and refuses any other token", async () => {
  const env = { XDG_CONFIG_HOME: join(home, "settings") };
  const file = join(home, "settings/signpost/profiles.json");
  const { accessToken } = service.credentials;
  const args = ["login", "--base-url", `${service.baseUrl}/`, "--profile", "work"];
  expect(await signpost(args, { env, input: "wrong\n" })).toMatchObject({ exitCode: 3 });
  await expect(stat(file)).rejects.toThrow("ENOENT");
  expect(await signpost(args, { env, input: `${accessToken}\n` })).toMatchObject({ exitCode: 0 });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
    work: { baseUrl: service.baseUrl, accessToken },
  });
  expect(await signpost(["tags", "list", "--profile", "home"], { env })).toMatchObject({ exitCode: 2 });
  const work = await signpost(["links", "list", "--profile", "work"], { env });
  expect(work).toMatchObject({ exitCode: 0, stderr: "" });
});

test("a stored token is not sent to another address, and the first credentials are the fallback", async () => {
  const settings = join(home, "elsewhere");
  await mkdir(join(settings, "signpost"), { recursive: true });
  const kept = { default: { baseUrl: "http://127.0.0.1:9", accessToken: service.credentials.accessToken } };
  await writeFile(join(settings, "signpost/profiles.json"), JSON.stringify(kept));
  const other = { XDG_CONFIG_HOME: settings, SIGNPOST_URL: service.baseUrl };
  expect(await signpost(["links", "list"], { env: other })).toMatchObject({ exitCode: 3 });
  expect(await signpost(["links", "list"], { env: { DATA_DIR: service.dataDir } })).toMatchObject({
    exitCode: 0,
  });
});

test("a reader that closes the pipe ends the command quietly", async () => {
  const line = `"${process.execPath}" "${script}" api-scopes list --json | head -c 1`;
  expect(await execute("sh", ["-c", line])).toEqual({ exitCode: 0, stdout: "{", stderr: "" });
});

test("bash completes groups, commands, flags and values with our script", async () => {
  const bin = join(home, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "signpost"), `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`, {
    mode: 0o755,
  });
  const lines = ["link", "links cr", "links create --wait", "webhooks list --status A"];
  const asked = lines.map((line) => {
    const words = `signpost ${line}`.split(" ");
    return `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _signpost; echo "\${COMPREPLY[*]}"`;
  });
  const bash = ["-e", "-c", `eval "$(signpost completion bash)"\n${asked.join("\n")}`];
  const env = { PATH: [bin, process.env.PATH].join(delimiter) };
  expect((await execute("bash", bash, { env })).stdout.split("\n")).toEqual([
    "link-settings links",
    "create create-batch create-bulk create-bulk-job create-contact create-thank-you",
    "--wait-for-qrcode",
    "ACTIVE",
    "",
  ]);
});

test("program, group and command have help, with and without the OpenAPI document", async () => {
  expect((await signpost(["--help"])).stdout).toContain("workflow-steps");
  const group = await signpost(["events", "--help"]);
  expect(group.stdout).toContain("list-traces <event-id>");
  expect(group.stdout).toContain("rebuild [--workspace ID]");
  expect((await signpost(["links", "create", "--help"])).stdout).toContain("--destination <text>");
});

test("a preview of a page is opened in the browser, with the fonts of the service", async () => {
  const link = JSON.parse(
    (await signpost(["links", "create", "--destination", "https://example.com", "--json"])).stdout,
  );
  const look = ["--link-id", link.link.id, "--slug", "gazette", "--json"];
  const { pageTheme } = JSON.parse((await signpost(["page-themes", "apply-template", ...look])).stdout);
  // A browser that asks for the page and for the first font that it names.
  const browser = join(home, "browser");
  const program = String.raw`#!${process.execPath}
    const [, own, address] = process.argv;
    const get = (path) => fetch(new URL(path, address));
    (async () => {
      const page = await (await get(address)).text();
      const font = await get(/\/_p\/fonts\/[^")]+/.exec(page)[0]);
      const seen = [page.includes("<h1"), font.status, font.headers.get("content-type"), (await get("/v1/links")).status];
      require("node:fs").writeFileSync(own + ".json", JSON.stringify(seen));
    })();`;
  await writeFile(browser, program);
  await chmod(browser, 0o755);
  const { baseUrl, credentials } = service;
  const env = { SIGNPOST_URL: baseUrl, SIGNPOST_TOKEN: credentials.accessToken, BROWSER: browser };
  const opened = await signpost(["page-themes", "preview", pageTheme.id, "--open"], { env });
  expect(opened).toMatchObject({ exitCode: 0, stdout: "" });
  expect(JSON.parse(await readFile(`${browser}.json`, "utf8"))).toEqual([true, 200, "font/woff2", 404]);
  expect(await signpost(["links", "list", "--open"])).toMatchObject({ exitCode: 2 });
});

test("a visit reaches a webhook of the service and the receiver of a listening developer, both signed", async () => {
  const [receiver, developer] = [await startReceiver(), await startReceiver()];
  const address = (port: number) => `http://127.0.0.1:${port}/hooks`;
  const flags = ["--name", "CRM", "--endpoint-url", address(receiver.port), "--triggers", "EXIT"];
  const made = JSON.parse((await signpost(["webhooks", "create", ...flags, "--json"])).stdout);
  const { baseUrl, credentials } = service;
  const env = { PATH: process.env.PATH ?? "", HOME: home, SIGNPOST_URL: baseUrl };
  const listening = spawn(
    process.execPath,
    [script, "webhooks", "listen", "--forward-to", address(developer.port)],
    { env: { ...env, SIGNPOST_TOKEN: credentials.accessToken } },
  );
  let [told, forwarded] = ["", ""];
  listening.stderr.on("data", (chunk: Buffer) => {
    told += chunk.toString();
  });
  listening.stdout.on("data", (chunk: Buffer) => {
    forwarded += chunk.toString();
  });
  try {
    await expect.poll(() => told, { timeout: 30_000 }).toContain("Waiting for visits");
    const link = ["--destination", "https://example.com/menu", "--shortlink", "heard"];
    expect(await signpost(["links", "create", ...link])).toMatchObject({ exitCode: 0 });
    const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    await fetch(`${baseUrl}/heard`, { redirect: "manual", headers: { "user-agent": browser } });
    await expect.poll(() => receiver.requests.length, { timeout: 30_000 }).toBe(1);
    await expect.poll(() => developer.requests.length, { timeout: 30_000 }).toBe(2);
    const [request] = receiver.requests as [(typeof receiver.requests)[number]];
    const sent = await verifyWebhook(request.body, request.headers, made.signingSecret);
    expect(sent).toMatchObject({
      type: "workflow_step.completed",
      data: { link: { shortlink: "heard" }, step: { kind: "KIND_EXIT" } },
    });
    const secret = /whsec_\S+/.exec(told)?.[0] ?? "";
    const heard = await Promise.all(
      developer.requests.map(({ body, headers }) => verifyWebhook(body, headers, secret)),
    );
    const kindsOf = heard.map(({ data }) => (data.step as { kind: string }).kind);
    expect(kindsOf.sort()).toEqual(["KIND_ENTRY", "KIND_EXIT"]);
    const traceOf = ({ data }: typeof sent) => (data.trace as { id: string }).id;
    expect(heard.map(traceOf)).toContain(traceOf(sent));
    await expect.poll(() => forwarded).toMatch(/^200 {2}msg_\S+_listen {2}\d+ ms$/m);
    const deliveries = ["webhooks", "list-deliveries", made.webhook.id, "--json"];
    // The outcome is written a moment after the answer.
    const statusOf = async () => JSON.parse((await signpost(deliveries)).stdout).deliveries[0]?.status;
    await expect.poll(statusOf, { timeout: 30_000 }).toBe("WEBHOOK_DELIVERY_STATUS_DELIVERED");
  } finally {
    const ended = new Promise((resolve) => listening.on("exit", resolve));
    listening.kill("SIGINT");
    expect(await ended).toBe(0);
  }
  expect(await signpost(["webhooks", "listen"])).toMatchObject({ exitCode: 2 });
});
