import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { askProcess } from "./ask-process.ts";

async function programOf(source: string): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), "signpost-program-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "program.mjs");
  await writeFile(file, source);
  return pathToFileURL(file);
}

const options = { timeoutMs: 60_000, signal: new AbortController().signal };

test.each([
  ["ends at once", "process.exit(1);"],
  ["closes its ears and ends", "process.disconnect(); process.exit(1);"],
])("a program that %s has crashed, however long the question was", async (_, source) => {
  const program = await programOf(source);
  const question = { bytes: Buffer.alloc(8_000_000) };
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => askProcess(program, question, options)));
  expect(outcomes).toEqual(Array(4).fill({ ended: "crashed" }));
});

test("a missing program counts as crashed", async () => {
  const program = new URL("no-such-program.mjs", import.meta.url);
  expect(await askProcess(program, { bytes: Buffer.alloc(8_000_000) }, options)).toEqual({
    ended: "crashed",
  });
});
