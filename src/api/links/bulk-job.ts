import type { DescMessage, Message, MessageInitShape } from "@bufbuild/protobuf";
import {
  type CreateBulkJobRequest,
  type CreateBulkJobResponseSchema,
  type CreateLinkRequest,
  CreateLinkRequestSchema,
} from "../../../gen/signpost/v1/links_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { CallError, type Fault } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { mapInTurns } from "../../lib/limits/loop-turns.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { toJob } from "../resources/job.ts";
import { createLinks, type LinkDeps } from "./create-links.ts";
import { beginJob, endJob, insertJob, type JobPlace, lockJob } from "./job-writes.ts";
import { readLinks, writeLinks } from "./kept-links.ts";
import { linkChecks } from "./rules.ts";
import { redirectLink, type WantedLink } from "./wanted-link.ts";

/** A job that crashed in this many runs is given up. */
const runsMax = 3;

export interface BulkJobDeps extends LinkDeps, Pick<Deps, "bulkJobLinks"> {
  readonly db: Db;
  /** Brings a request's texts into their form, and returns the error that names its bad fields. */
  readonly checkRequest: (
    message: Message,
    desc: DescMessage,
    checkMore: () => readonly Fault[],
  ) => Promise<CallError | undefined>;
}

/** Keeps the links of a request, and queues the job that creates them. */
export async function queueBulkJob(
  { now, jobCall }: Deps,
  request: CreateBulkJobRequest,
  context: Context,
): Promise<MessageInitShape<typeof CreateBulkJobResponseSchema>> {
  const at = now();
  const row = await insertJob(context.db, jobCall, {
    workspaceId: callerOf(context).workspaceId,
    jobId: newId(at),
    itemCount: request.links.length,
    request: await writeLinks(request.links),
    at,
  });
  return { job: toJob(row) };
}

/**
 * The job that creates links, all or none. The links and the job's end are written in one transaction, so that a run
 * after a crash either finds the job finished or begins with nothing.
 */
export function createLinksJob(deps: BulkJobDeps): (place: JobPlace) => Promise<void> {
  const { db, now } = deps;
  const { redirect } = linkChecks(deps);
  return async (place) => {
    const begun = await beginJob(db, place);
    if (begun?.request == null) return;
    if (begun.runs > runsMax) {
      const message = `the job was interrupted ${runsMax} times; send the links again`;
      await endJob(db, place, now(), { reason: "INTERNAL", message });
      return;
    }
    try {
      const links = await checkEach(deps, readLinks(begun.request), redirect);
      await inTransaction(db, async (tx) => {
        if (!(await lockJob(tx, place))) return;
        const made = await createLinks(deps, tx, { workspaceId: place.workspaceId, links, placeOf });
        await endJob(tx, place, now(), { linkIds: made.map(({ link }) => link.id) });
      });
    } catch (error) {
      // What others did at the same moment may be over when the job runs again.
      if (!(error instanceof CallError) || error.code === "ABORTED") throw error;
      await endJob(db, place, now(), error);
    }
  };
}

function placeOf(index: number): string {
  return `links[${index}].`;
}

/** The links to make. Throws the fault of the first bad one. */
function checkEach(
  { checkRequest }: BulkJobDeps,
  links: Iterable<CreateLinkRequest>,
  check: (link: CreateLinkRequest) => readonly Fault[],
): Promise<WantedLink[]> {
  return mapInTurns(links, async (link, index) => {
    const error = await checkRequest(link, CreateLinkRequestSchema, () => check(link));
    if (error === undefined) return redirectLink(link);
    throw new CallError(error.code, error.reason, placeOf(index) + error.message);
  });
}
