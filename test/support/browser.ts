import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { browserArguments, browserCommand, browserPath } from "./browser-program.ts";
import { hasTool } from "./system-tool.ts";

const tool = { command: browserCommand, debianPackage: "chromium" };

/** Whether there is a browser; with `CI=true` there must be one. */
export const hasBrowser = hasTool(tool);

/** The size of a phone's screen. */
const phone = { width: 390, height: 844 };

/** Opens a browser with a new profile, which is removed when the browser is closed. */
export function openBrowser(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  // With an empty name the browser makes a temporary profile.
  return chromium.launchPersistentContext("", {
    executablePath: browserPath(),
    args: browserArguments,
    ...options,
  });
}

/** Opens a page as a phone shows it, for one purpose, and closes it afterwards. */
export type VisitPages = <Result>(
  options: BrowserContextOptions,
  use: (page: Page, context: BrowserContext) => Promise<Result>,
) => Promise<Result>;

/** Launches one browser for the tests of a suite. Each visit has a profile of its own. */
export function launchBrowser(): VisitPages {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: browserPath(), args: browserArguments });
  }, 60_000);
  afterAll(() => browser?.close());
  return async (options, use) => {
    const context = await browser.newContext({ viewport: phone, reducedMotion: "reduce", ...options });
    try {
      return await use(await context.newPage(), context);
    } finally {
      await context.close();
    }
  };
}
