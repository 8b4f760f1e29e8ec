import { readFile } from "node:fs/promises";

/**
 * Reads a file of `gen`. It is read here because the bundle, like this folder, is two folders below the root: a deeper file would
 * look elsewhere once it is bundled.
 */
export function readGenerated(name: "reference.json" | "tools.json"): Promise<string> {
  return readFile(new URL(`../../gen/${name}`, import.meta.url), "utf8");
}
