import { spawnSync } from "node:child_process";
import type { Tool } from "./languages.ts";

/** Why a tool is unusable on this machine; undefined when it is usable. */
export function lack({ version: [program, ...args], least }: Tool): string | undefined {
  const { status, stdout } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) return `${program} is not here`;
  // Maven prints colors, whose codes have digits before a letter.
  const [, major = "0", minor = "0"] = /(\d+)(?:\.(\d+))?(?![\da-z])/.exec(stdout) ?? [];
  const isOld = Number(major) < least[0] || (Number(major) === least[0] && Number(minor) < least[1]);
  return isOld ? `${program} ${major}.${minor} is older than ${least.join(".")}` : undefined;
}
