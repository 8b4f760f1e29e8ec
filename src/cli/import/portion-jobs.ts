import { createHash } from "node:crypto";
import type { Ask, ServiceAnswer } from "../operations/ask.ts";
import { isJsonObject } from "../operations/flag-values.ts";
import { type Command, findCommand, loadGroup } from "../operations/groups.ts";
import { restCall } from "../operations/request.ts";
import { checkOutcome, readAgain, type Watch, waitUntilFinished, watchOf } from "../operations/watch.ts";
import type { ImportRow } from "./rows.ts";

/** Rows that one job makes, all or none. */
export type Portion = readonly [ImportRow, ...ImportRow[]];

/** The job of a portion. */
export interface PortionJob {
  readonly portion: Portion;
  readonly answer: ServiceAnswer;
  /** Whether an earlier import has made the links, or is making them. */
  readonly isOld: boolean;
}

export interface PortionJobs {
  /** Queues the job of a portion. The same portion of the same file is queued once, however often it is tried. */
  start(portion: Portion): Promise<PortionJob>;
  /** Waits for a job. Throws a RefusedError when it has failed. */
  finish(job: PortionJob): Promise<void>;
}

/** Makes links by jobs. `prefix` begins the keys under which the service remembers them. */
export async function createPortionJobs(ask: Ask, prefix: string): Promise<PortionJobs> {
  const command = findCommand(await loadGroup("links"), "create-bulk-job");
  const watch = command && (await watchOf(command));
  if (command === undefined || watch === undefined) throw new Error("the interface creates links by jobs");
  return {
    start: (portion) => startJob(ask, { command, watch, prefix }, portion),
    async finish({ answer }) {
      checkOutcome(await waitUntilFinished(ask, watch, answer, () => {}));
    },
  };
}

interface Operations {
  readonly command: Command;
  readonly watch: Watch;
  readonly prefix: string;
}

/**
 * The key says which rows of what content the job makes, so that a repeated import finds its own jobs. One that has failed
 * has made nothing: the next key tries again.
 */
async function startJob(
  ask: Ask,
  { command, watch, prefix }: Operations,
  portion: Portion,
): Promise<PortionJob> {
  const links = portion.map(({ request }) => request);
  const call = restCall(command.binding, { links });
  const content = createHash("sha256")
    .update(call.body ?? "")
    .digest("base64url");
  for (let attempt = 1; ; attempt++) {
    const answer = await ask(call, `${prefix}-${portion[0].number}-${content}-${attempt}`);
    if (!answer.isReplay) return { portion, answer, isOld: false };
    const current = await readAgain(ask, watch, answer);
    if (!isJsonObject(current.json.error)) return { portion, answer: current, isOld: true };
  }
}
