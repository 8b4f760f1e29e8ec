/** Builds the packages of the named languages, or of all: `node sdk/build.ts [language…]`. */
import { buildPackage, fetchNeeds } from "./build-package.ts";
import { selectLanguages } from "./run.ts";

for (const [name, language] of selectLanguages(process.argv.slice(2))) {
  await fetchNeeds(name, language);
  await buildPackage(name, language);
}
