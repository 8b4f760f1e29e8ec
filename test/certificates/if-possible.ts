/**
 * Runs the tests against Pebble, the authority with which Let's Encrypt tests clients, as far as this machine can: it
 * takes the program that PEBBLE names, or builds one with Go. It prints the reason when it cannot; every later failure
 * counts.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const repository = join(import.meta.dirname, "../..");
const module = "github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1";

/** The path of the program, or why there is none. */
function findPebble(): { readonly program: string } | { readonly lacks: string } {
  const { PEBBLE } = process.env;
  if (PEBBLE !== undefined && PEBBLE !== "") return { program: PEBBLE };
  if (spawnSync("go", ["version"]).status !== 0) return { lacks: "there is no Go" };
  const folder = join(repository, "node_modules/.cache/pebble");
  mkdirSync(folder, { recursive: true });
  const built = spawnSync("go", ["install", module], {
    cwd: folder,
    env: { ...process.env, GOBIN: folder },
    encoding: "utf8",
    timeout: 90_000,
  });
  if (built.status !== 0) return { lacks: `Pebble could not be built: ${built.stderr.trim().slice(-500)}` };
  return { program: join(folder, "pebble") };
}

const found = findPebble();
if ("lacks" in found) process.stdout.write(`pebble: skipped, ${found.lacks}\n`);
else {
  const { status } = spawnSync("npx", ["vitest", "run", "--config", "vitest.pebble.config.ts"], {
    cwd: repository,
    env: { ...process.env, DATABASE_URL: "", PEBBLE: found.program },
    stdio: "inherit",
  });
  process.exit(status ?? 1);
}
