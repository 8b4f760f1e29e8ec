/**
 * Walks the journey of JOURNEY.md with the built packages of the languages named, or of all, each in a workspace of its own on one
 * service, started on an empty folder: `node sdk/journeys.ts [language…]`. Fails when a client has left out an operation that is built.
 */
import { languageFolder, run, selectLanguages } from "./run.ts";
import { startService } from "./service.ts";
import { untilWalked } from "./walked.ts";

const selected = selectLanguages(process.argv.slice(2));
const service = await startService();
try {
  for (const [name, { journey }] of selected) {
    const started = performance.now();
    // What others were answered does not count.
    service.takeAnswers();
    await run(journey, languageFolder(name), await service.newWorkspace());
    const count = await untilWalked(name, service);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${name}: all ${count} operations in ${seconds} s\n`);
  }
} finally {
  await service.stop();
}
