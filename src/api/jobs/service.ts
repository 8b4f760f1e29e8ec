import type { JobsService } from "../../../gen/signpost/v1/jobs_service_pb.js";
import { jobKeptMs } from "../../model/jobs.ts";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { toJob } from "../resources/job.ts";
import { notFound } from "../resources/not-found.ts";
import { findJob } from "./queries.ts";

export function jobsService({ now }: Pick<Deps, "now">): Handlers<typeof JobsService> {
  return {
    async get({ id }, context) {
      const completedAfter = new Date(now().getTime() - jobKeptMs);
      const job = await findJob(context.db, callerOf(context).workspaceId, id, completedAfter);
      if (job === undefined) throw notFound("job", "id", id);
      return { job: toJob(job) };
    },
  };
}
