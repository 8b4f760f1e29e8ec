import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Language } from "./languages.ts";
import { languageFolder, repository, run } from "./run.ts";

// Options that a client never reads: routes, access and validation. They are left out of the packages, because some
// languages have no package for their protos.
const serviceOnly = [
  "buf.validate.**",
  "google.api.field_behavior",
  "google.api.http",
  "signpost.options.v1.access",
  "signpost.options.v1.needs_full_access",
  "signpost.options.v1.scope_description",
  "signpost.options.v1.cache_seconds",
  "signpost.options.v1.private_cache_seconds",
  "signpost.options.v1.success_status",
  "signpost.options.v1.request_bytes_max",
  "signpost.options.v1.verbatim",
  "signpost.options.v1.deprecation",
];

/** The protos of the packages: the API and its options. Tasks are tools for models, which no client calls. */
const clientProtos = ["proto/signpost/v1", "proto/signpost/options"];

/** Downloads what the build of a language's package needs; throws when a registry is out of reach. */
export async function fetchNeeds(name: string, language: Language): Promise<void> {
  for (const command of language.fetch) await run(command, languageFolder(name));
}

/** Generates, compiles and packs a language's package; call `fetchNeeds` before. */
export async function buildPackage(name: string, language: Language): Promise<void> {
  const started = performance.now();
  const folder = languageFolder(name);
  for (const output of language.outputs) rmSync(join(folder, output), { recursive: true, force: true });
  copyFileSync(join(repository, "LICENSE"), join(folder, "LICENSE"));
  if (language.generate !== undefined) await generate(language.generate);
  for (const command of language.build) await run(command, folder);
  process.stdout.write(`${name}: built in ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}

async function generate({
  plugins,
  managed,
  alsoFrom = [],
}: NonNullable<Language["generate"]>): Promise<void> {
  const inputs = [{ directory: "proto", paths: [...clientProtos, ...alsoFrom], exclude_types: serviceOnly }];
  const template = JSON.stringify({ version: "v2", managed, plugins, inputs });
  await run(["buf", "generate", "--template", template], repository);
}
