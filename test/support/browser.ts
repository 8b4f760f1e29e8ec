import { execFileSync } from "node:child_process";
import { type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import { hasTool } from "./system-tool.ts";

const tool = { command: "chromium", debianPackage: "chromium" };

/** Whether there is a browser, which CI insists on. */
export const hasBrowser = hasTool(tool);

// What a browser does of its own accord is not to be taken for what the page does.
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A browser with a profile of its own, which is removed when it is closed. */
export function openBrowser(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const executablePath = execFileSync("sh", ["-c", `command -v ${tool.command}`], {
    encoding: "utf8",
  }).trim();
  // An empty name is an empty folder of its own.
  return chromium.launchPersistentContext("", { executablePath, args, ...options });
}
