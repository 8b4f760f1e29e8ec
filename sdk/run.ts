import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { type Command, type Language, languages } from "./languages.ts";

/** The repository's root. */
export const repository = join(import.meta.dirname, "..");

/** The folder of a language's package. */
export function languageFolder(name: string): string {
  return join(repository, "sdk", name);
}

/** The named entries of the table, or all of them; throws for an unknown name. */
export function selectLanguages(names: readonly string[]): [name: string, language: Language][] {
  if (names.length === 0) return Object.entries(languages);
  return names.map((name) => {
    const language = languages[name];
    if (language !== undefined) return [name, language];
    throw new Error(`no package for ${name}; there are ${Object.keys(languages).join(", ")}`);
  });
}

/** Runs a command in a folder until it ends, shows its output and returns it; throws when the command fails. */
export async function run(
  command: Command,
  folder: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<string> {
  const [program, ...args] = command;
  const tools = join(repository, "node_modules", ".bin");
  const PATH = `${tools}${delimiter}${process.env.PATH ?? ""}`;
  const env = { ...process.env, ...environment, PATH };
  const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"], env });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    process.stdout.write(text);
  });
  await once(child, "close");
  if (child.exitCode !== 0) throw new Error(`${command.join(" ").slice(0, 200)} failed in ${folder}`);
  return printed;
}
