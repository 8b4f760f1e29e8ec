import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/*
 * Prints the test files for which it matters on which PostgreSQL they run; `npm run test:pg` runs those.
 *
 * Versions differ in how they migrate, plan, lock and refuse. Every file that opens a database in its own process meets
 * that: the slices of the API, jobs, visits, storing, numbers, the walk through all operations and the description of all
 * statements. Stories of whole services, of browsers and of processes that are killed send the same statements again. They
 * are left out, like everything without a database.
 */

const opensDatabase = "test/support/test-database.ts";
const startsProcess = /^test\/support\/(?:start-service|browser|.*-process)\.ts$/;

/** The files under `test` that a file needs, with what those need. */
function supportOf(file: string, found = new Set<string>()): Set<string> {
  for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/(?:from |new URL\()"(\.[^"]+\.ts)"/g)) {
    const support = join(dirname(file), path);
    if (!support.startsWith("test/") || found.has(support)) continue;
    found.add(support);
    supportOf(support, found);
  }
  return found;
}

const files = globSync("{src,test}/**/*.test.ts").filter((file) => {
  const support = [...supportOf(file)];
  return support.includes(opensDatabase) && !support.some((each) => startsProcess.test(each));
});
process.stdout.write(`${files.sort().join("\n")}\n`);
