import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { readWithZbar, readWithZxing, zbarimg } from "./support/qr-readers.ts";
import { type EventAnswer, type LinkAnswer, type RestApi, restApi } from "./support/rest-api.ts";
import { eventually, root, type Service, startService } from "./support/start-service.ts";
import { hasTool } from "./support/system-tool.ts";

const run = promisify(execFile);

const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";

let service: Service;
let api: RestApi;

beforeAll(async () => {
  service = await startService({ database: "own", fromSources: true });
  api = restApi(service.baseUrl, service.credentials.accessToken);
  return () => service.stop();
});

/** The command that the program printed for pasting. */
function printedLine(): string {
  const line = service
    .stdout()
    .split("\n")
    .find((each) => each.startsWith("curl "));
  if (line === undefined) throw new Error(`no line to paste in: ${service.stdout()}`);
  return line;
}

async function paste(line: string): Promise<LinkAnswer> {
  const { stdout } = await run("sh", ["-c", line]);
  const { link } = JSON.parse(stdout);
  return link;
}

async function visit(link: LinkAnswer, init: RequestInit = {}, query = "?qr"): Promise<Response> {
  const headers = { "user-agent": iphone, ...init.headers };
  return await fetch(`${link.entrypoint}${query}`, { ...init, headers, redirect: "manual" });
}

function eventsOf(link: LinkAnswer, count: number): Promise<EventAnswer[]> {
  const ask = async () => (await api.events()).filter(({ linkId }) => linkId === link.id);
  return eventually(ask, (events) => events.length >= count);
}

describe("on the first start", () => {
  test("only the owner can read the credentials file", async () => {
    const file = join(service.dataDir, "credentials.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const credentials = JSON.parse(await readFile(file, "utf8"));
    expect(Object.keys(credentials)).toEqual(["baseUrl", "workspaceId", "accessToken", "email", "password"]);
    expect(credentials.baseUrl).toBe(service.baseUrl);
  });

  test("outside of a terminal the output says where the credentials are, and contains none of them", () => {
    expect(service.stdout()).toContain(join(service.dataDir, "credentials.json"));
    expect(service.stdout()).not.toContain(service.credentials.accessToken);
    expect(service.stdout()).not.toContain(service.credentials.password);
    expect(JSON.stringify(service.log())).not.toContain(service.credentials.accessToken);
    expect(JSON.stringify(service.log())).not.toContain(service.credentials.password);
  });
});

describe("the printed line", () => {
  test("makes a link whose QR image reads as its entrypoint with the scan marker", async () => {
    const link = await paste(printedLine());
    expect(link.name).toBe("example.com");
    const answer = await fetch(link.qrcodeSignedUrl ?? "");
    expect(answer.headers.get("content-type")).toBe("image/png");
    const image = new Uint8Array(await answer.arrayBuffer());
    expect(await readWithZxing(image)).toEqual([`${link.entrypoint}?qr`]);
    if (hasTool(zbarimg)) expect(await readWithZbar([image])).toEqual([`${link.entrypoint}?qr`]);
  });
});

describe("a scan", () => {
  test("is redirected and becomes one event, unlike a HEAD request", async () => {
    const link = await api.createLink({ destination: "https://example.com/menu" });
    const head = await visit(link, { method: "HEAD" });
    const answer = await visit(link);
    for (const { status, headers } of [head, answer]) {
      expect(status).toBe(302);
      expect(headers.get("location")).toBe("https://example.com/menu");
      expect(headers.get("cache-control")).toBe("private, no-store");
      expect(headers.get("x-robots-tag")).toBe("noindex");
    }
    expect(head.headers.get("set-cookie")).toBeNull();
    const [event, ...others] = await eventsOf(link, 1);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      action: "ACTION_SCAN",
      visitType: "VISIT_TYPE_FIRST",
      httpMethod: "HTTP_METHOD_GET",
      entrypoint: link.entrypoint,
      destination: "https://example.com/menu",
      destinationAction: "EVENT_ACTION_CLIENT_REDIRECT",
      device: { deviceType: "DEVICE_TYPE_MOBILE", deviceActor: "DEVICE_ACTOR_HUMAN", country: "" },
    });
    const counted = await eventually(
      () => api.call("GET", `/v1/links/${link.id}`),
      (each) => each.link.eventCount === "1",
    );
    expect(counted.link.eventCount).toBe("1");
  });

  test("is in the CSV of events, with device and country", async () => {
    const link = await api.createLink();
    await visit(link);
    await eventsOf(link, 1);
    const { csv } = await api.call<{ csv: { contentType: string; csvData: string } }>(
      "GET",
      `/v1/events?linkId=${link.id}&include=device&responseFormat=RESPONSE_FORMAT_CSV`,
    );
    expect(csv.contentType).toBe("text/csv");
    const [header = "", row = "", ...rest] = csv.csvData.split("\r\n");
    expect(rest).toEqual([""]);
    const columns = header.split(",");
    const cells = row.split(",");
    const cell = (name: string) => cells[columns.indexOf(name)];
    expect(columns).toContain("device.country");
    expect(cell("linkId")).toBe(link.id);
    expect(cell("action")).toBe("ACTION_SCAN");
    expect(cell("device.deviceType")).toBe("DEVICE_TYPE_MOBILE");
  });

  test("leaves a trace of every step", async () => {
    const link = await api.createLink({ destination: "https://example.com/menu" });
    await visit(link, {}, "");
    const [event] = await eventsOf(link, 1);
    const { traces } = await api.call<{ traces: unknown[] }>("GET", `/v1/events/${event?.id}/traces`);
    expect(traces).toMatchObject([
      {
        stepAction: "EVENT_ACTION_LINK_VISIT",
        stepKind: "KIND_ENTRY",
        stepData: { entryAccess: { action: "CLICK", entrypoint: link.entrypoint, httpMethod: "GET" } },
      },
      {
        stepAction: "EVENT_ACTION_CLIENT_REDIRECT",
        stepKind: "KIND_EXIT",
        stepData: { redirect: { destination: "https://example.com/menu", fallback: false } },
      },
    ]);
  });
});

describe("the commands of the README", () => {
  const command = async (...args: string[]) => {
    const script = join(root, "src/cli/signpost.ts");
    const { stdout } = await run(process.execPath, [script, ...args], { cwd: root, env: { ...service.env } });
    return stdout.trim();
  };

  test("make an empty workspace while the service runs", async () => {
    const order = ["workspace", "create", "--name", "Harbour", "--email", "harbour@example.com"];
    // This command runs through npm, as in the README; the others skip npm, which takes longer than they do.
    const throughNpm = ["run", "--silent", "signpost", "--", ...order];
    const { stdout } = await run("npm", throughNpm, { cwd: root, env: { ...service.env } });
    const { accessToken } = JSON.parse(stdout);
    const { links } = await restApi(service.baseUrl, accessToken).call("GET", "/v1/links");
    expect(links).toEqual([]);
  });

  test("make secret and publishable tokens", async () => {
    const { workspaceId } = service.credentials;
    const secret = await command("token", "create", "--workspace", workspaceId, "--name", "Tills");
    const { tokens } = await restApi(service.baseUrl, secret).call<{ tokens: { name: string }[] }>(
      "GET",
      "/v1/workspace-tokens",
    );
    expect(tokens.map(({ name }) => name)).toContain("Tills");
    const publishable = await command("token", "create", "--workspace", workspaceId, "--publishable");
    await expect(restApi(service.baseUrl, publishable).call("GET", "/v1/links")).rejects.toThrow("403");
  });

  test("migrate an up-to-date database, and rebuild the counters without changing them", async () => {
    const countsOf = async () => {
      const { links } = await api.call("GET", "/v1/links");
      return links.map(({ id, eventCount }) => ({ id, eventCount }));
    };
    const before = await countsOf();
    await command("migrate");
    await command("events", "rebuild", "--workspace", service.credentials.workspaceId);
    await command("events", "rebuild");
    expect(await countsOf()).toEqual(before);
  });

  test("say what is wrong, and fail", async () => {
    await expect(command("frobnicate")).rejects.toThrow("frobnicate");
    await expect(command("token", "create")).rejects.toThrow("--workspace");
  });
});

describe("on the second start", () => {
  test("everything is there, the printed line works, and countries are known behind a trusted proxy", async () => {
    const before = await api.call("GET", "/v1/links");
    expect(await service.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    service = await service.restart({ TRUSTED_PROXIES: "127.0.0.0/8,::1" });
    expect(service.stdout()).not.toContain(service.credentials.accessToken);
    expect(await api.call("GET", "/v1/links")).toEqual(before);
    const link = await paste(printedLine());
    await visit(link, { headers: { "x-forwarded-for": "8.8.8.8" } });
    const [event] = await eventsOf(link, 1);
    expect(event?.device).toMatchObject({ country: "US" });
  });
});
