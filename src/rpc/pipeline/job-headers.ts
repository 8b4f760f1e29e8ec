import type { Message } from "@bufbuild/protobuf";
import type { MethodPlan } from "../access.ts";
import type { AnswerHeaders } from "../call.ts";

/** What every message of background work has. */
interface Work {
  readonly statusUrl: string;
  readonly completedAt?: object;
}

/** How long a client should wait before it asks for a job again, in seconds. */
const jobSeconds = 2;

/**
 * The headers of an answer with background work: until the job is finished, when to ask again, and where, if
 * this call has started it.
 */
export function jobHeaders({ answersJob }: MethodPlan, message: Message): AnswerHeaders {
  if (answersJob === undefined) return {};
  // The plan has found this field, and its message has these.
  const work = (message as Readonly<Record<string, unknown>>)[answersJob.field] as Work | undefined;
  if (work === undefined || work.completedAt !== undefined) return {};
  const retry = { "retry-after": String(jobSeconds) };
  return answersJob.isStart ? { ...retry, location: work.statusUrl } : retry;
}
