import { parseArgs } from "node:util";
import { type Config, readConfig } from "../service/config.ts";
import { createToken, createWorkspaceFor, migrateDatabase, rebuildEvents } from "./operations/operate.ts";
import { addCredits, setPlan } from "./operations/operate-plans.ts";
import { administer, listWaiting } from "./operations/operate-workspaces.ts";
import { UsageError } from "./outcome.ts";

const options = {
  name: { type: "string" },
  email: { type: "string" },
  workspace: { type: "string" },
  publishable: { type: "boolean" },
  plan: { type: "string" },
  credits: { type: "string" },
} as const;

type Values = ReturnType<typeof parse>;

/** The operator commands; each returns what to print on success. */
const commands: Readonly<Record<string, (config: Config, values: Values) => Promise<string>>> = {
  migrate: (config) => migrateDatabase(config),
  "workspace create": (config, values) =>
    createWorkspaceFor(config, { name: required(values, "name"), email: required(values, "email") }),
  "workspace plan": (config, values) =>
    setPlan(config, required(values, "workspace"), required(values, "plan")),
  "workspace credits": (config, values) =>
    addCredits(config, required(values, "workspace"), required(values, "credits")),
  "workspace publish": (config, values) => administer(config, "publish", required(values, "workspace")),
  "workspace unpublish": (config, values) => administer(config, "unpublish", required(values, "workspace")),
  "workspace delete": (config, values) => administer(config, "delete", required(values, "workspace")),
  "workspace restore": (config, values) => administer(config, "restore", required(values, "workspace")),
  "workspace waiting": (config) => listWaiting(config),
  "token create": (config, values) =>
    createToken(config, {
      workspaceId: required(values, "workspace"),
      name: values.name ?? "",
      keyType: values.publishable === true ? "PUBLISHABLE" : "SECRET",
    }),
  "events rebuild": (config, values) => rebuildEvents(config, values.workspace),
};

/** Runs a command on the service's own database, with the service's environment. Throws a UsageError. */
export async function operate(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const command = commands[name];
  if (command === undefined) throw new UsageError(`there is no command "${name}"`);
  const values = parse(args);
  return await command(readConfig(env), values);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function required(values: Values, name: Exclude<keyof typeof options, "publishable">): string {
  const value = values[name];
  if (value === undefined || value === "") throw new UsageError(`--${name} is missing`);
  return value;
}
