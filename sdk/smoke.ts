/**
 * Tests the built packages of the named languages, or of all, on a running service: `node sdk/smoke.ts [language…]`.
 * The service is the one at SIGNPOST_URL with SIGNPOST_TOKEN, or one that is started on an empty folder.
 */
import { stripVTControlCharacters } from "node:util";
import { languageFolder, run, selectLanguages } from "./run.ts";
import { openService } from "./service.ts";

const selected = selectLanguages(process.argv.slice(2));
const service = await openService();
try {
  const environment = { SIGNPOST_URL: service.url, SIGNPOST_TOKEN: service.token };
  for (const [name, language] of selected) {
    const started = performance.now();
    let printed = "";
    for (const command of language.smoke) printed += await run(command, languageFolder(name), environment);
    // The example of the READMEs prints the addresses of the links that it finds.
    if (!/^https?:\/\/\S+$/m.test(stripVTControlCharacters(printed)))
      throw new Error(`${name}: ${language.example} has found no link`);
    process.stdout.write(`${name}: tried in ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
  }
} finally {
  await service.stop();
}
