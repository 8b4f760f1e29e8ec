import { settingFlags } from "./command-line.ts";
import { hasFile, isFile } from "./operations/files.ts";
import { type Flag, findFlag, flagsOf, isBoolean, shortNames } from "./operations/flags.ts";
import { type Command, findCommand, findGroupName, groupNames, loadGroup } from "./operations/groups.ts";
import { hasCsv, isPaged } from "./operations/paging.ts";
import { UsageError } from "./outcome.ts";
import { clientCommands, operatorCommands } from "./own-commands.ts";
import { type EnvironmentVariables, readProfiles } from "./profiles.ts";

/** A word that may complete the typed one. */
export type Candidate = string;

/** The words that can complete the last of `words`; none where a file or a free text is expected. */
export async function candidates(words: readonly string[], env: EnvironmentVariables): Promise<Candidate[]> {
  const typed = words.at(-1) ?? "";
  const all = await allCandidates(words.slice(0, -1), typed, env);
  return all.filter((candidate) => candidate.startsWith(typed));
}

async function allCandidates(
  before: readonly string[],
  typed: string,
  env: EnvironmentVariables,
): Promise<Candidate[]> {
  const [first, second, ...rest] = before;
  const last = before.at(-1);
  if (last === "--profile") return [...(await readProfiles(env)).keys()];
  const own = [...clientCommands, ...operatorCommands];
  if (first === undefined) {
    const words = own.map(({ name }) => name.split(" ")[0] ?? "");
    return [...new Set([...(await groupNames()), ...words, "--help"])];
  }
  if (first === "completion") return second === undefined ? Object.keys(scripts) : [];
  const ownNames = own
    .filter(({ name }) => name.startsWith(`${first} `))
    .map(({ name }) => name.split(" ")[1] ?? "");
  const ownUsage = own.find(({ name }) => name === first || name === `${first} ${second}`)?.usage;
  if (ownUsage !== undefined) return typed.startsWith("-") ? (ownUsage.match(/--[a-z-]+/g) ?? []) : [];
  const groupName = await findGroupName(first);
  if (groupName === undefined) return ownNames;
  const group = await loadGroup(groupName);
  if (second === undefined) return [...group.commands.map(({ name }) => name), ...ownNames, "--help"];
  const command = findCommand(group, second);
  return command === undefined ? [] : operationCandidates(command, rest, typed);
}

function operationCandidates(command: Command, before: readonly string[], typed: string): Candidate[] {
  const { method, binding } = command;
  const last = before.at(-1) ?? "";
  const open = last.startsWith("--") ? findFlag(method.input, last.slice(2)) : undefined;
  if (open !== undefined && !isBoolean(open.field)) return valuesOf(open);
  if (settingFlags.some(({ name, value }) => `--${name}` === last && value !== "")) return [];
  if (!typed.startsWith("-")) {
    const field = binding.variables[before.filter((word) => !word.startsWith("-")).length]?.fields[0];
    return field?.enum === undefined ? [] : shortNames(field.enum);
  }
  const flags = flagsOf(method.input)
    .filter(({ name }) => !before.includes(`--${name}`))
    .flatMap((flag) =>
      isBoolean(flag.field) ? [`--${flag.name}`, `--no-${flag.name}`] : [`--${flag.name}`],
    );
  const settings = settingFlags.filter(({ name }) => {
    if (name === "all") return isPaged(command);
    if (name === "output") return hasFile(command);
    if (name === "open") return isFile(command);
    return name === "csv" ? hasCsv(command) : true;
  });
  return [...flags, ...settings.map(({ name }) => `--${name}`)];
}

function valuesOf({ field }: Flag): Candidate[] {
  return field.enum === undefined ? [] : shortNames(field.enum);
}

/** Each shell calls the program itself, so that its suggestions match this version. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_signpost() {
  local IFS=$'\\n'
  COMPREPLY=($(signpost complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _signpost signpost
`,
  zsh: `#compdef signpost
_signpost() {
  local -a found
  found=("\${(@f)$(signpost complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _signpost signpost
`,
  fish: `function __signpost_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (signpost complete -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c signpost -f -a '(__signpost_complete)'
`,
};

/** The script that a shell reads to complete our commands. Throws a UsageError for an unknown shell. */
export function completionScript(shell: string | undefined): string {
  const script = scripts[shell ?? ""];
  if (script === undefined)
    throw new UsageError(`name a shell: ${Object.keys(scripts).join(", ")}`, "completion");
  return script;
}
