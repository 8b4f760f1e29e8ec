import type { Message } from "@bufbuild/protobuf";
import type { Job } from "../../../gen/signpost/v1/job_pb.js";
import type { MethodPlan } from "../access.ts";
import type { AnswerHeaders } from "../call.ts";

/** How long a client should wait before it asks for a job again, in seconds. */
const jobSeconds = 2;

/**
 * The headers of an answer whose field `job` is background work: until the job is finished, when to ask again, and where, if
 * this call has started it.
 */
export function jobHeaders({ answersJob }: MethodPlan, message: Message): AnswerHeaders {
  if (answersJob === undefined) return {};
  // The option says that the answer has this field.
  const { job } = message as Message & { readonly job?: Job };
  if (job === undefined || job.completedAt !== undefined) return {};
  const retry = { "retry-after": String(jobSeconds) };
  return answersJob === "starts" ? { ...retry, location: job.statusUrl } : retry;
}
