import type { CallError, Code, Reason } from "../lib/errors.ts";

/** How many bad fields an error names in its text; all of them are in its data. */
const fieldsMax = 10;

const byReason: Partial<Readonly<Record<Reason, string>>> = {
  INSUFFICIENT_SCOPE: "Tell the person which permission is missing; they grant it by connecting again.",
  FULL_ACCESS_REQUIRED: "No grant allows this. Ask the person to do it in the service.",
  MEMBER_SESSION_REQUIRED: "No grant allows this. Ask the person to do it in the service.",
  NOT_AVAILABLE_IN_SANDBOX: "A sandbox does not have this. Go on without it.",
  RATE_LIMITED: "Wait, then repeat the same call.",
  PLAN_LIMIT_REACHED: "The plan allows no more. Tell the person, and do not try again.",
  INSUFFICIENT_CREDITS: "The workspace has too few credits. Tell the person, and do not try again.",
  INVALID_PAGE_TOKEN: "Start at the first page again: leave pageToken out.",
  IDEMPOTENCY_KEY_REUSED:
    "The key was used for other arguments. Choose a new idempotencyKey for a new thing to do.",
  IDEMPOTENCY_IN_PROGRESS:
    "The first call with this key is still running. Wait a second, then repeat it unchanged.",
  SHORTLINK_TAKEN: "Choose another short link, or ask links_shortlink_random for a free one.",
  UNIMPLEMENTED: "This service cannot do it. Do not try again.",
};

const byCode: Partial<Readonly<Record<Code, string>>> = {
  INVALID_ARGUMENT: "Correct the named arguments and call again.",
  NOT_FOUND: "Check the id. List the records to find the right one; do not guess.",
  ALREADY_EXISTS: "Read what is there first, or choose another value.",
  PERMISSION_DENIED: "The caller may not do this. Tell the person.",
  FAILED_PRECONDITION: "Something has to be done first; read the message, then call again.",
  ABORTED: "Others changed the same records. Repeat the same call.",
  RESOURCE_EXHAUSTED: "A limit is reached. Tell the person.",
  DEADLINE_EXCEEDED: "It took too long. Ask for less, such as a shorter time or fewer entries.",
  UNAVAILABLE: "Repeat the same call in a few seconds.",
  INTERNAL: "The service failed. Repeat the call once; if it fails again, tell the person.",
};

/** The text of an error: what is wrong, where, and what to do next. */
export function adviceOn(error: CallError): string {
  const { code, reason, message, refusal } = error;
  const { fields = [], retryAfterSeconds } = refusal;
  const named = fields.slice(0, fieldsMax).map(({ field, description }) => `${field} ${description}`);
  const further = fields.length > fieldsMax ? [`and ${fields.length - fieldsMax} more fields`] : [];
  const wait = retryAfterSeconds === undefined ? [] : [`Wait ${retryAfterSeconds} s.`];
  const next = byReason[reason] ?? byCode[code];
  return [
    `${reason}: ${message}.`,
    ...(fields.length > 1 ? [`Arguments: ${[...named, ...further].join("; ")}.`] : []),
    ...wait,
    ...(next === undefined ? [] : [next]),
  ].join(" ");
}
