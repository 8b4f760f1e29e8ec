import { defineConfig } from "vitest/config";

// The tests against Pebble, which need Go and are no part of `npm test`.
export default defineConfig({
  test: {
    include: ["test/certificates/*.pebble.ts"],
    globalSetup: ["test/support/database.ts"],
    pool: "forks",
    experimental: { viteModuleRunner: false },
    testTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 300_000,
  },
});
