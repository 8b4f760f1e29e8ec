import { execFileSync } from "node:child_process";
import { type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import { hasTool } from "./system-tool.ts";

const tool = { command: "chromium", debianPackage: "chromium" };

/** Whether there is a browser; with `CI=true` there must be one. */
export const hasBrowser = hasTool(tool);

// Turns off the browser's own network requests, so that they are not taken for the page's.
export const browserArguments = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Where the browser is installed. */
export function browserPath(): string {
  return execFileSync("sh", ["-c", `command -v ${tool.command}`], { encoding: "utf8" }).trim();
}

/** Opens a browser with a new profile, which is removed when the browser is closed. */
export function openBrowser(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  // With an empty name the browser makes a temporary profile.
  return chromium.launchPersistentContext("", {
    executablePath: browserPath(),
    args: browserArguments,
    ...options,
  });
}
