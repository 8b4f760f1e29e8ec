import { defineConfig } from "vitest/config";

// The tests against Pebble, which need Go and are no part of `npm test`.
export default defineConfig({
  test: {
    include: ["test/certificates/*.pebble.ts"],
    globalSetup: ["test/support/database.ts"],
    pool: "forks",
    experimental: { viteModuleRunner: false },
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});
