/**
 * Builds and tries the packages of the languages named, or of all, as far as this machine can: `node sdk/if-possible.ts
 * [language…]`. A language without its tools here, or whose registry is out of reach, is left out with the reason printed;
 * every failure after that is one.
 */
import { spawnSync } from "node:child_process";
import { buildPackage, fetchNeeds } from "./build-package.ts";
import type { Language, Tool } from "./languages.ts";
import { repository, run, selectLanguages } from "./run.ts";

const built: string[] = [];
for (const [name, language] of selectLanguages(process.argv.slice(2))) {
  const hindrance = language.tools.map(lack).find(Boolean) ?? (await unfetched(name, language));
  if (hindrance !== undefined) {
    process.stdout.write(`${name}: skipped, ${hindrance}\n`);
    continue;
  }
  await buildPackage(name, language);
  built.push(name);
}
if (built.length > 0) await run(["node", "sdk/smoke.ts", ...built], repository);

/** What is wrong with a tool as it is on this machine, if anything. */
function lack({ version: [program, ...args], least }: Tool): string | undefined {
  const { status, stdout } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) return `${program} is not here`;
  // Maven prints colors, whose codes have digits before a letter.
  const [, major = "0", minor = "0"] = /(\d+)(?:\.(\d+))?(?![\da-z])/.exec(stdout) ?? [];
  const isOld = Number(major) < least[0] || (Number(major) === least[0] && Number(minor) < least[1]);
  return isOld ? `${program} ${major}.${minor} is older than ${least.join(".")}` : undefined;
}

async function unfetched(name: string, language: Language): Promise<string | undefined> {
  try {
    await fetchNeeds(name, language);
    return undefined;
  } catch (error) {
    return `what it needs could not be fetched: ${error instanceof Error ? error.message : error}`;
  }
}
