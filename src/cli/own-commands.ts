import { planIds } from "../model/plans/plan-table.ts";

/** A command that is no operation of the API. */
export interface OwnCommand {
  readonly name: string;
  readonly usage: string;
  readonly description: string;
}

/** Commands on the service's own database, with the service's environment. */
export const operatorCommands: readonly OwnCommand[] = [
  { name: "serve", usage: "serve", description: "the service itself" },
  { name: "migrate", usage: "migrate", description: "bring the database's schema up to date" },
  {
    name: "workspace create",
    usage: "workspace create --name NAME --email EMAIL",
    description: "make a workspace with an admin and a secret token",
  },
  {
    name: "workspace plan",
    usage: `workspace plan --workspace ID --plan ${planIds.join("|")}`,
    description: "put a workspace on a plan",
  },
  {
    name: "workspace credits",
    usage: "workspace credits --workspace ID --credits N",
    description: "add bought credits to a workspace",
  },
  {
    name: "token create",
    usage: "token create --workspace ID [--name NAME] [--publishable]",
    description: "make a token for a workspace",
  },
  {
    name: "events rebuild",
    usage: "events rebuild [--workspace ID]",
    description: "rebuild the counters from the events",
  },
];

/** Commands about the command line itself. */
export const clientCommands: readonly OwnCommand[] = [
  {
    name: "login",
    usage: "login [--profile NAME] [--base-url URL]",
    description: "check a token and keep it for later commands",
  },
  {
    name: "completion",
    usage: "completion bash|zsh|fish",
    description: "print the script that completes commands and flags in a shell",
  },
];

/** The own command at the start of a line; undefined when there is none. */
export function ownCommandOf(
  commands: readonly OwnCommand[],
  args: readonly string[],
): OwnCommand | undefined {
  return commands.find(({ name }) => name.split(" ").every((word, index) => args[index] === word));
}
