import { execFileSync } from "node:child_process";

export const browserCommand = "chromium";

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
  return execFileSync("sh", ["-c", `command -v ${browserCommand}`], { encoding: "utf8" }).trim();
}
