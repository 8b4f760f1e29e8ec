import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  ReplayWebhookDeliveriesRequest,
  ReplayWebhookDeliveriesResponseSchema,
} from "../../../gen/signpost/v1/webhooks_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { CallError, fail, invalid } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { type ReplayPlace, replayPart } from "../../outbox/queue-again.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { toJob } from "../resources/job.ts";
import { checkActive, deliveriesKeptMs, keyOf } from "./deliveries.ts";
import {
  advanceReplay,
  beginReplay,
  endReplay,
  insertReplay,
  type JobPlace,
  lockReplay,
} from "./replay-writes.ts";

/** What a replay is told, as JSON in the column of its job; times in milliseconds. */
interface KeptReplay {
  readonly webhookId: string;
  readonly since: number;
  readonly until: number;
  readonly includesDelivered: boolean;
  /** Where its next part begins; absent at the beginning. */
  readonly next?: ReplayPlace;
}

/**
 * A replay that failed in this many runs without getting on is given up, after three hours or so. The queue would give it
 * up without a word, and no other replay could follow.
 */
const runsMax = 10;

/** Queues the job that sends messages of a time again. */
export async function queueReplay(
  { now, jobCall }: Pick<Deps, "now" | "jobCall">,
  { id, since, until, includeDelivered }: ReplayWebhookDeliveriesRequest,
  context: Context,
): Promise<MessageInitShape<typeof ReplayWebhookDeliveriesResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const at = now();
  const from = since === undefined ? at : timestampDate(since);
  const to = until === undefined ? at : timestampDate(until);
  if (from.getTime() < at.getTime() - deliveriesKeptMs)
    throw invalid([{ field: "since", description: "must lie within the last 30 days" }]);
  if (from > at) throw invalid([{ field: "since", description: "must not lie in the future" }]);
  if (to < from) throw invalid([{ field: "until", description: "must not be before `since`" }]);
  const replay: KeptReplay = {
    webhookId: id,
    since: from.getTime(),
    until: Math.min(to.getTime(), at.getTime()),
    includesDelivered: includeDelivered,
  };
  return inTransaction(context.db, async (tx) => {
    await checkActive(tx, { workspaceId, id });
    const place = { workspaceId, jobId: newId(at) };
    const row = await insertReplay(tx, jobCall, { ...place, request: written(replay), at });
    if (row !== undefined) return { job: toJob(row) };
    throw fail(
      "FAILED_PRECONDITION",
      "FAILED_PRECONDITION",
      "another replay of this workspace is not finished: wait for its job",
    );
  });
}

/**
 * The job of a replay. Each part is a transaction of its own that also notes how far the replay has come, so that a run
 * after a crash goes on there.
 */
export function replayWebhookJob({ db, now }: { readonly db: Db; readonly now: () => Date }) {
  return async (place: JobPlace, signal: AbortSignal): Promise<void> => {
    const runs = signal.aborted ? 0 : ((await beginReplay(db, place)) ?? 0);
    if (runs > runsMax) return inTransaction(db, (tx) => giveUp(tx, place, now()));
    while (!signal.aborted && (await inTransaction(db, (tx) => runPart(tx, place, now()))));
    if (signal.aborted) throw new Error("the service stops; the replay goes on afterwards");
  };
}

async function giveUp(tx: Db, place: JobPlace, at: Date): Promise<void> {
  if ((await lockReplay(tx, place)) === undefined) return;
  const message = `the replay was interrupted ${runsMax} times; start another one`;
  await endReplay(tx, place, { at, queued: 0, reason: "INTERNAL", message });
}

/** Does one part. False after the last one. */
async function runPart(tx: Db, place: JobPlace, at: Date): Promise<boolean> {
  const job = await lockReplay(tx, place);
  if (job?.request == null) return false;
  const { next: from, ...replay }: KeptReplay = JSON.parse(job.request.toString());
  const { workspaceId } = place;
  const webhook = { workspaceId, id: replay.webhookId };
  const refusal = await checkActive(tx, webhook).catch((error) => error);
  if (refusal !== undefined) {
    if (!(refusal instanceof CallError)) throw refusal;
    const { reason, message } = refusal;
    await endReplay(tx, place, { at, queued: 0, reason, message });
    return false;
  }
  const wanted = {
    since: new Date(replay.since),
    until: new Date(replay.until),
    includesDelivered: replay.includesDelivered,
  };
  const { queued, next } = await replayPart(tx, keyOf(webhook), wanted, { from, at });
  if (next === undefined) await endReplay(tx, place, { at, queued });
  else await advanceReplay(tx, place, { queued, request: written({ ...replay, next }) });
  return next !== undefined;
}

function written(replay: KeptReplay): Buffer {
  return Buffer.from(JSON.stringify(replay));
}
