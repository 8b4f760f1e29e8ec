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
    name: "workspace waiting",
    usage: "workspace waiting",
    description: "list the workspaces that asked to become public, with their messages",
  },
  {
    name: "workspace publish",
    usage: "workspace publish --workspace ID",
    description: "make a workspace public",
  },
  {
    name: "workspace unpublish",
    usage: "workspace unpublish --workspace ID",
    description: "make a workspace private",
  },
  {
    name: "workspace delete",
    usage: "workspace delete --workspace ID",
    description: "delete a workspace; for 30 days it can be restored",
  },
  {
    name: "workspace restore",
    usage: "workspace restore --workspace ID",
    description: "bring a deleted workspace back, with its tokens and members",
  },
  {
    name: "token create",
    usage: "token create --workspace ID [--name NAME] [--publishable]",
    description: "make a token for a workspace",
  },
  {
    name: "events rebuild",
    usage: "events rebuild [--workspace ID]",
    description: "rebuild the counters and the segments from the events",
  },
];

/** Commands that call the service in a manner of their own, or are about the command line itself. */
export const clientCommands: readonly OwnCommand[] = [
  {
    name: "links import",
    usage:
      "links import FILE.csv|- [--dry-run] [--watch] [--from-line LINE] [--idempotency-key KEY] [--profile NAME]",
    description: "make links of the rows of a CSV file, or of the standard input",
  },
  {
    name: "webhooks listen",
    usage: "webhooks listen --forward-to URL [--secret whsec_…] [--profile NAME]",
    description: "forward the messages of completed steps to a receiver on this machine, signed",
  },
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
