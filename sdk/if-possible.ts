/**
 * Builds and tests the packages of the named languages, or of all, as far as this machine can: `node sdk/if-possible.ts
 * [language…]`. It skips a language without its tools here, or whose registry is out of reach, and prints the reason;
 * every later failure counts.
 */
import { buildPackage, fetchNeeds } from "./build-package.ts";
import type { Language } from "./languages.ts";
import { repository, run, selectLanguages } from "./run.ts";
import { lack } from "./tools.ts";

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

async function unfetched(name: string, language: Language): Promise<string | undefined> {
  try {
    await fetchNeeds(name, language);
    return undefined;
  } catch (error) {
    return `what it needs could not be fetched: ${error instanceof Error ? error.message : error}`;
  }
}
