import { execFile } from "node:child_process";
import { access, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";

const run = promisify(execFile);

/** The service as production runs it. It starts in half the time of the sources, and there are a hundred starts in a run. */
export interface BundledService {
  readonly program: string;
  /** Where it keeps its compiled code, which goes with the run. */
  readonly compileCache: string;
}

let bundled: Promise<BundledService> | undefined;

/** Bundles the service, once in a run. */
export function bundledService(): Promise<BundledService> {
  bundled ??= bundleOnce();
  return bundled;
}

async function bundleOnce(): Promise<BundledService> {
  const folder = inject("bundle");
  const paths = { program: join(folder, "main.js"), compileCache: join(folder, "compile-cache") };
  const isThere = await access(paths.program).then(
    () => true,
    () => false,
  );
  if (isThere) return paths;
  const own = `${folder}-${process.pid}`;
  await run(process.execPath, ["build/bundle.ts", own], { cwd: join(import.meta.dirname, "../..") });
  // A worker that has been faster keeps its place: the bundles are the same.
  await rename(own, folder).catch(() => rm(own, { recursive: true }));
  return paths;
}
