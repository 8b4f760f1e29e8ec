import { spawnSync } from "node:child_process";

/** A program of the operating system with which tests check our output, and its Debian package. */
export interface SystemTool {
  readonly command: string;
  readonly debianPackage: string;
}

/**
 * Whether a tool is installed. With `CI=true` a missing tool is an error, so that a check cannot vanish unnoticed;
 * elsewhere callers skip, which the reporter shows.
 */
export function hasTool({ command, debianPackage }: SystemTool): boolean {
  if (spawnSync(command, ["--version"], { stdio: "ignore" }).error === undefined) return true;
  if (process.env.CI === "true")
    throw new Error(`${command} is missing: apt-get install -y ${debianPackage}`);
  return false;
}
