import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { hasBrowser, openBrowser } from "../support/browser.ts";
import { type EventAnswer, type LinkAnswer, restApi } from "../support/rest-api.ts";
import { startService } from "../support/start-service.ts";
import { makeWorkflow } from "../support/workflows.ts";

const service = await startService();
const api = restApi(service.baseUrl, service.credentials.accessToken);

/** The pages of a site with our links, by path. Every other path of the site answers with an empty offer. */
const pages = new Map<string, string>();
const site = createServer(({ url = "" }, res) => {
  res.setHeader("content-type", "text/html");
  res.end(`<!doctype html><title>Site</title>${pages.get(url) ?? "Offer"}`);
});
await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
const siteUrl = `http://localhost:${(site.address() as AddressInfo).port}`; // a TCP server's address is an AddressInfo
let browser: BrowserContext;

beforeAll(async () => {
  if (!hasBrowser) return;
  // The user agent of a browser with a window, because the test's browser has none and says so.
  browser = await openBrowser({
    userAgent:
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
  });
});
afterAll(async () => {
  await browser?.close();
  site.close();
  site.closeAllConnections();
  await service.stop();
});

async function eventsOf(id: string): Promise<EventAnswer[]> {
  const events = await api.events();
  return events.filter(({ linkId }) => linkId === id);
}

function countedOf(events: readonly EventAnswer[]): EventAnswer[] {
  return events.filter(({ counted }) => counted);
}

async function newLink(): Promise<LinkAnswer> {
  return api.createLink({ destination: `${siteUrl}/offer` });
}

const addressOf = ({ shortlink }: Pick<LinkAnswer, "shortlink">) => `${service.baseUrl}/${shortlink}`;

describe.runIf(hasBrowser)("a browser of today", () => {
  test.each(["prefetch", "prerender"])("asks again at the click after a %s", async (kind) => {
    const link = await newLink();
    const rules = JSON.stringify({ [kind]: [{ source: "list", urls: [addressOf(link)] }] });
    pages.set(
      `/${kind}`,
      `<script type="speculationrules">${rules}</script><a href="${addressOf(link)}">Go</a>`,
    );
    const page = await browser.newPage();
    await page.goto(`${siteUrl}/${kind}`);
    await vi.waitFor(async () => expect(await eventsOf(link.id)).toHaveLength(1), 20_000);
    expect(await eventsOf(link.id)).toMatchObject([
      { counted: false, uncountedReason: "UNCOUNTED_REASON_PREFETCH" },
    ]);
    await page.click("a");
    await page.waitForURL(`${siteUrl}/offer`);
    await vi.waitFor(async () => expect(countedOf(await eventsOf(link.id))).toHaveLength(1), 20_000);
    await page.close();
  });

  test("is not counted when another page loads the link as an image, a script or a fetch", async () => {
    const link = await newLink();
    const to = addressOf(link);
    pages.set(
      "/parts",
      `<img src="${to}"><script src="${to}"></script><script>fetch("${to}", { mode: "no-cors" });</script>`,
    );
    const page = await browser.newPage();
    await page.goto(`${siteUrl}/parts`);
    await vi.waitFor(async () => expect(await eventsOf(link.id)).toHaveLength(3), 20_000);
    for (const event of await eventsOf(link.id))
      expect(event).toMatchObject({ counted: false, uncountedReason: "UNCOUNTED_REASON_EMBEDDED" });
    await page.goto(to);
    await vi.waitFor(async () => expect(countedOf(await eventsOf(link.id))).toHaveLength(1), 20_000);
    await page.close();
  });

  test("leads to one counted visit when a person reloads a page and comes back to it", async () => {
    const link = await makeWorkflow(
      api,
      "page",
      {
        page: {
          action: "MESSAGE_PAGE",
          payload: {
            messagePage: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
          },
          next: "site",
        },
        site: {
          action: "CLIENT_REDIRECT",
          payload: { clientRedirect: { destination: `${siteUrl}/offer` } },
        },
      },
      { purpose: "" },
    );
    const page = await browser.newPage();
    await page.goto(addressOf(link));
    for (let again = 0; again < 3; again++) {
      await page.reload();
      expect(await page.textContent("body")).toContain("Hello");
    }
    await page.goto(`${siteUrl}/elsewhere`);
    await page.goBack();
    expect(await page.textContent("body")).toContain("Hello");
    await page.click("button");
    await page.waitForURL(`${siteUrl}/offer`);
    await vi.waitFor(async () => expect(await eventsOf(link.linkId)).toHaveLength(1), 20_000);
    // Opening the link after the end of a visit begins a new one.
    await page.goto(addressOf(link));
    await vi.waitFor(async () => expect(countedOf(await eventsOf(link.linkId))).toHaveLength(2), 20_000);
    await page.close();
  });
});
