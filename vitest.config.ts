import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Workers and the programs that tests start find the code that earlier ones have compiled.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/compiled");

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "build/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/database.ts"],
    pool: "forks",
    // Files keep nothing in modules that another file could meet, so a worker goes on with what it has loaded.
    isolate: false,
    experimental: { viteModuleRunner: false },
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // A second, which is the default, passes on a busy machine before anything has happened.
    expect: { poll: { timeout: 30_000 } },
    // Most tests wait for a database, a socket or a browser most of the time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
  },
});
