import type { MessageInitShape } from "@bufbuild/protobuf";
import type { VisitorSchema } from "../../../gen/signpost/v1/visitor_pb.js";
import type {
  IdentifyRequest,
  IdentifyResponseSchema,
} from "../../../gen/signpost/v1/visitors_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { fail, invalid } from "../../lib/errors.ts";
import { newId, timeOfUuid } from "../../lib/ids.ts";
import type { Arrivals } from "../../lib/limits/arrivals.ts";
import { eventOfLbid } from "../../model/visitors/lbid.ts";
import { type Context, callerOf, type Write } from "../../rpc/handlers.ts";
import {
  findVisit,
  identifyVisitor,
  insertIdentifyTrace,
  keepPending,
  type VisitRow,
} from "../../visitors/identify.ts";
import { attachPending } from "../../visitors/pending-identify.ts";
import type { Deps } from "../deps.ts";
import { toAttribute } from "../resources/visitor.ts";
import { nothingEmbedded, toVisitor } from "./message.ts";
import { findVisitor } from "./queries.ts";
import { type GivenText, readValues, tooManyAttributes } from "./rules.ts";

type IdentifyAnswer = MessageInitShape<typeof IdentifyResponseSchema>;

export interface IdentifyDeps extends Pick<Deps, "now" | "shortUrl"> {
  readonly arrivals: Arrivals;
}

/**
 * Identifies the visitor of a visit, or a person without one. Waits for the visit, and leaves the rest to be written.
 */
export async function prepareIdentify(
  deps: IdentifyDeps,
  request: IdentifyRequest,
  context: Context,
): Promise<Write<IdentifyAnswer>> {
  const { workspaceId, scopes } = callerOf(context);
  const { setOnce } = request;
  const values = readValues(request.visitor).filter((given): given is GivenText => given.value !== null);
  const eventId = readLbid(request.lbid);
  if (eventId === undefined && !values.some(isIdentity))
    throw invalid(
      [{ field: "lbid", description: "is needed, or `visitor` with `$email` or `$phone`" }],
      "ONE_OF_REQUIRED",
    );
  const hasIdentity = values.some(isIdentity);
  const visit =
    eventId === undefined ? undefined : await awaitVisit(deps, workspaceId, eventId, hasIdentity, context);
  const isPending = eventId !== undefined && visit === undefined;
  const write = async (tx: Db): Promise<IdentifyAnswer> => {
    const at = deps.now();
    const { visitorId, created, changedKeys } = await identifyVisitor(tx, {
      workspaceId,
      at,
      event: visit && { id: visit.id, deviceId: visit.device_id, mayAttach: visit.may_attach },
      attributes: values.map((given) => ({ ...given, setOnce })),
    });
    if (eventId !== undefined) {
      const data = { identifyVisitor: traceData(setOnce, values, changedKeys) };
      const trace = { workspaceId, eventId, id: newId(at), at, data };
      await (isPending ? keepPending(tx, { ...trace, visitorId }) : insertIdentifyTrace(tx, trace));
    }
    // A caller who may not read profiles learns nothing of the profile that was found: the answer repeats what the
    // caller sent.
    const visitor = scopes.has("visitors:read")
      ? await profileOf(tx, deps, { workspaceId, visitorId, values })
      : echoOf(visitorId, values);
    if (!isPending) return { created, visitor };
    // The visit may have been stored before this transaction committed, when the drain could not yet see the kept call.
    context.afterCommit(async (db) => {
      const stored = await findVisit(db, workspaceId, eventId);
      if (stored !== undefined) await attachPending(db, [{ workspaceId, eventId }]);
      return { created, visitor };
    });
    return { created, visitor };
  };
  return (db) => inTransaction(db, write);
}

/** Whether a value tells who it is without a visit. */
function isIdentity({ key, value }: GivenText): boolean {
  return value !== "" && (key === "$email" || key === "$phone");
}

function readLbid(lbid: string): string | undefined {
  if (lbid === "") return undefined;
  const eventId = eventOfLbid(lbid);
  if (eventId === undefined)
    throw invalid(
      [{ field: "lbid", description: "is damaged: pass on the value of the parameter `lbid` unchanged" }],
      "INVALID_LBID",
    );
  return eventId;
}

/**
 * How long after its start a visit may still be on its way to the database, in milliseconds. Pages call as soon as they
 * open.
 */
const storingMsMax = 10_000;

/** The same limit for a call that itself identifies the visitor, and so need not wait for the visit. */
const pendingMsMax = 60_000;

/**
 * Finds the visit of a call. Undefined when the visit is not stored yet and the call itself identifies the visitor.
 * Such a visit is attached when it is stored. Any other call waits, because only the visit leads to the visitor.
 */
async function awaitVisit(
  { now, arrivals }: IdentifyDeps,
  workspaceId: string,
  eventId: string,
  hasIdentity: boolean,
  { db, address, signal }: Context,
): Promise<VisitRow | undefined> {
  const ageMs = Math.abs(now().getTime() - timeOfUuid(eventId).getTime());
  const isOptional = hasIdentity && ageMs < pendingMsMax;
  const visit = await arrivals.look({
    caller: `${workspaceId} ${address}`,
    find: () => findVisit(db, workspaceId, eventId),
    mayArrive: ageMs < storingMsMax || isOptional,
    isOptional,
    signal,
  });
  if (typeof visit === "object") return visit;
  if (isOptional) return undefined;
  if (visit === "missing")
    throw fail("NOT_FOUND", "LBID_NOT_FOUND", "lbid: there is no such visit in this workspace");
  throw fail(
    "RESOURCE_EXHAUSTED",
    "RATE_LIMITED",
    "lbid: your address has sent too many unknown values; send the value that the visitor came with",
    { retryAfterSeconds: 1 },
  );
}

/** The trace's data, as the contract's `IdentifyVisitorTraceData`. */
function traceData(setOnce: boolean, values: readonly GivenText[], changedKeys: readonly string[]) {
  const systemFields = values.map(({ key }) => key).filter((key) => key.startsWith("$"));
  return {
    setOnce,
    systemFields,
    customAttributes: values.length - systemFields.length,
    fieldsUpdated: changedKeys.length,
  };
}

type VisitorInit = MessageInitShape<typeof VisitorSchema>;

async function profileOf(
  tx: Db,
  { shortUrl }: Pick<Deps, "shortUrl">,
  {
    workspaceId,
    visitorId,
    values,
  }: {
    readonly workspaceId: string;
    readonly visitorId: string;
    readonly values: readonly GivenText[];
  },
): Promise<VisitorInit> {
  const row = await findVisitor(tx, workspaceId, visitorId);
  if (row === undefined) throw new Error("an identified visitor is not there");
  const stored = new Set(row.attributes.map(({ key }) => key));
  if (values.some(({ key }) => !key.startsWith("$") && !stored.has(key))) throw tooManyAttributes();
  return toVisitor(row, nothingEmbedded, shortUrl);
}

function echoOf(id: string, values: readonly GivenText[]): VisitorInit {
  const text = (key: string) => values.find((given) => given.key === key)?.value ?? "";
  return {
    id,
    email: text("$email"),
    phone: text("$phone"),
    firstName: text("$firstName"),
    lastName: text("$lastName"),
    attributes: values.filter(({ key }) => !key.startsWith("$")).map(toAttribute),
  };
}
