import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasTool } from "../../../test/support/system-tool.ts";
import { discoveryHandler } from "../discovery.ts";
import { referencePolicy } from "./reference-page.ts";

const browser = { command: "chromium", debianPackage: "chromium" };

// Turns off the browser's own network requests, so that they are not taken for the page's.
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

describe.skipIf(!hasTool(browser))("in a browser, the API reference", () => {
  const requested: string[] = [];
  const complaints: string[] = [];
  let end: () => Promise<void>;
  let origin: string;
  let page: Page;

  beforeAll(async () => {
    const handler = discoveryHandler({
      baseUrl: "http://localhost",
      authUrl: "http://localhost/auth",
      scopes: [],
      agents: { mcpUrl: "", preClaimScope: "", postClaimScope: "" },
    });
    const server = createServer((req, res) => void handler(req, res));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://localhost:${(server.address() as AddressInfo).port}`; // a TCP server's address is an AddressInfo
    // With an empty name the browser makes a temporary profile, which is removed at the end.
    const executablePath = execFileSync("sh", ["-c", `command -v ${browser.command}`], {
      encoding: "utf8",
    }).trim();
    const context = await chromium.launchPersistentContext("", { executablePath, args });
    end = async () => {
      await context.close();
      server.closeAllConnections();
      server.close();
    };
    page = await context.newPage();
    page.on("request", (request) => requested.push(request.url()));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (line) => {
      if (line.type() === "error" || line.type() === "warning") complaints.push(line.text());
    });
    await page.goto(`${origin}/docs`);
  });
  afterAll(() => end?.());

  test("shows the service, its resource groups and an operation, and contacts no other host", async () => {
    await page.getByRole("heading", { name: "Signpost" }).first().waitFor();
    await page.getByText("Workflow Steps").first().waitFor();
    await page.goto(`${origin}/docs#tag/links/POST/v1/links`);
    await page.getByText("LinksService_Create", { exact: true }).first().waitFor();
    await page.getByText("links:write").first().waitFor();
    await page.getByRole("button", { name: "Test Request" }).first().click();
    await page.getByRole("button", { name: /^Send/ }).first().waitFor();
    expect(requested.length).toBeGreaterThan(3);
    expect(requested.filter((url) => !url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url))).toEqual(
      [],
    );
    expect(complaints).toEqual([]);
  });
});

test("its policy allows scripts and calls of its own origin only", () => {
  expect(referencePolicy).toContain("default-src 'none'");
  expect(referencePolicy).toContain("script-src 'self';");
  expect(referencePolicy).toContain("connect-src 'self';");
  expect(referencePolicy).not.toMatch(/https?:|\*|unsafe-eval/);
});
