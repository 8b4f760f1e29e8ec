/** A command that is no operation of the interface. */
export interface OwnCommand {
  readonly name: string;
  readonly usage: string;
  readonly description: string;
}

/** What runs on the service's own database, with the environment of the service. */
export const operatorCommands: readonly OwnCommand[] = [
  { name: "serve", usage: "serve", description: "the service itself" },
  { name: "migrate", usage: "migrate", description: "bring the database's schema up to date" },
  {
    name: "workspace create",
    usage: "workspace create --name NAME --email EMAIL",
    description: "make a workspace with an admin and a secret token",
  },
  {
    name: "token create",
    usage: "token create --workspace ID [--name NAME] [--publishable]",
    description: "make a token for a workspace",
  },
  {
    name: "events rebuild",
    usage: "events rebuild [--workspace ID]",
    description: "fold the counters again from the events",
  },
];

/** What concerns the command line itself. */
export const clientCommands: readonly OwnCommand[] = [
  {
    name: "login",
    usage: "login [--profile NAME] [--base-url URL]",
    description: "check a token and keep it for later commands",
  },
  {
    name: "completion",
    usage: "completion bash|zsh|fish",
    description: "print what makes a shell complete commands and flags",
  },
];

/** The command that a line begins with; undefined when it begins with none of these. */
export function ownCommandOf(
  commands: readonly OwnCommand[],
  args: readonly string[],
): OwnCommand | undefined {
  return commands.find(({ name }) => name.split(" ").every((word, index) => args[index] === word));
}
