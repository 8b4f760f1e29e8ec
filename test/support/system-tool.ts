import { spawnSync } from "node:child_process";

/** A program of the operating system that tests check our output with, and the Debian package it comes in. */
export interface SystemTool {
  readonly command: string;
  readonly debianPackage: string;
}

/**
 * Whether a tool is here. With `CI=true` a missing tool is an error, so that a check cannot vanish unseen; elsewhere
 * callers skip, which the reporter shows.
 */
export function hasTool({ command, debianPackage }: SystemTool): boolean {
  if (spawnSync(command, ["--version"], { stdio: "ignore" }).error === undefined) return true;
  if (process.env.CI === "true")
    throw new Error(`${command} is missing: apt-get install -y ${debianPackage}`);
  return false;
}
