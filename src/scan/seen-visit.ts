import type { Db } from "../db/open.ts";
import type { Plan } from "../model/plan.ts";
import { stepActions } from "../model/workflow.ts";
import type { Visit, VisitDevice } from "../workflow/visit.ts";
import { collect } from "./collection.ts";
import type { Drain } from "./drain.ts";
import { findVisitor, type KnownVisitor, nobody } from "./find-visitor.ts";
import { clippedHeader, type SeenVisit } from "./record-format.ts";
import type { LazyReader, RequestReader } from "./request-reader.ts";
import { deviceKeys, mayHaveVisitor } from "./visit-facts.ts";
import { lbidOf } from "./visit-id.ts";

/** Tells the engine about visits that begin. */
export interface SeenVisits {
  /**
   * What the workflow may ask about a visit: at once where it asks nothing that has to be looked up or loaded. A lookup
   * that fails, or takes too long, leaves a first visit of somebody unknown; a promise is rejected only when the files
   * that the service comes with cannot be read.
   */
  of(plan: Plan, seen: SeenVisit, hasEvent: boolean): Visit | Promise<Visit>;
}

export interface SeenVisitsDeps {
  readonly db: Db;
  readonly reader: LazyReader;
  /** Visits of the same visitor may still be on their way to the database. */
  readonly drain: Pick<Drain, "catchUp">;
  /** The key of cookies and fingerprints, in hexadecimal. */
  readonly deviceKey: string;
  readonly onTrouble: (error: unknown) => void;
  /** How long a visitor waits for earlier visits to be stored, and then for the database, in milliseconds. */
  readonly catchUpMs?: number;
  readonly lookUpMs?: number;
}

export function createSeenVisits(deps: SeenVisitsDeps): SeenVisits {
  const { reader } = deps;
  return {
    of(plan, seen, hasEvent) {
      if (asksNothing(plan)) return visitOf(seen, hasEvent, unread, nobody);
      const opened = reader.peek();
      if (opened === undefined) return reader.open().then((fresh) => read(deps, plan, seen, hasEvent, fresh));
      return read(deps, plan, seen, hasEvent, opened);
    },
  };
}

const plain = new WeakMap<Plan, boolean>();

/** True for a workflow that lets everybody through to its exit, and saves nothing: most links are redirects. */
function asksNothing(plan: Plan): boolean {
  let asks = plain.get(plan);
  if (asks === undefined) {
    const steps = [...plan.steps.values()];
    asks = steps.every(({ action, capture }) => {
      const { kind } = stepActions[action];
      return (kind === "ENTRY" || kind === "EXIT") && capture === undefined;
    });
    plain.set(plan, asks);
  }
  return asks;
}

function read(
  deps: SeenVisitsDeps,
  plan: Plan,
  seen: SeenVisit,
  hasEvent: boolean,
  { classify, geography }: RequestReader,
): Visit | Promise<Visit> {
  const classification = classify(clippedHeader(seen.headers["user-agent"]), seen.headers);
  const request: RequestFacts = {
    country: () => geography.placeOf(seen.address).country,
    device: () => classification,
  };
  const { visitType, visitor } = plan.needs;
  if (seen.level === "NONE" || !(visitType || visitor)) return visitOf(seen, hasEvent, request, nobody);
  return lookUp(deps, plan, seen, classification).then((known) => visitOf(seen, hasEvent, request, known));
}

type RequestFacts = Pick<Visit, "country" | "device">;

const unread: RequestFacts = {
  country: () => "",
  device: () => unknownDevice,
};

const unknownDevice: VisitDevice = Object.freeze({
  deviceType: "UNKNOWN",
  deviceActor: "UNKNOWN",
  platformName: "",
  browserName: "",
  deviceBrand: "",
});

function visitOf(
  { id, query, level }: SeenVisit,
  hasEvent: boolean,
  { country, device }: RequestFacts,
  { visitType, attributes }: KnownVisitor,
): Visit {
  return {
    query,
    lbid: () => (hasEvent ? lbidOf(id) : ""),
    dataCollection: level,
    visitType,
    country,
    device,
    attributes,
  };
}

async function lookUp(
  { db, drain, deviceKey, onTrouble, catchUpMs = 300, lookUpMs = 500 }: SeenVisitsDeps,
  { workspaceId, linkId }: Plan,
  { id, level, headers, address, cookie, cookieWasSent }: SeenVisit,
  { deviceActor }: VisitDevice,
): Promise<KnownVisitor> {
  const collection = collect(level, {});
  const userAgent = clippedHeader(headers["user-agent"]);
  const language = clippedHeader(headers["accept-language"]);
  const traits = { workspaceId, cookie, address, userAgent, language, deviceActor };
  const keys = deviceKeys(traits, collection, deviceKey);
  const sought = { workspaceId, linkId, atMs: id.readUIntBE(0, 6), cookieWasSent, ...keys };
  await drain.catchUp(catchUpMs);
  try {
    const known = await within(lookUpMs, findVisitor(db, sought));
    return mayHaveVisitor(collection, deviceActor) ? known : { ...known, attributes: undefined };
  } catch (error) {
    onTrouble(error);
    return nobody;
  }
}

async function within<Value>(milliseconds: number, value: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`the database did not answer within ${milliseconds} ms`)),
    milliseconds,
  );
  try {
    return await Promise.race([value, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
