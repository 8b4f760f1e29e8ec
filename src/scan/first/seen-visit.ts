import type { Turns } from "../../db/turns.ts";
import { within } from "../../lib/within.ts";
import { stepActions } from "../../model/steps/kinds.ts";
import type { Plan } from "../../model/workflow/plan.ts";
import type { Visit, VisitDevice } from "../../workflow/visit.ts";
import type { Classification, DeviceActor } from "../device/classify.ts";
import { collect } from "../device/collection.ts";
import { type DeviceKeys, deviceKeys, deviceNames, mayHaveVisitor } from "../device/device-keys.ts";
import type { LazyReader, RequestReader } from "../device/request-reader.ts";
import { clippedHeader, type SeenVisit } from "../spool/record-format.ts";
import { lbidOf } from "../spool/visit-id.ts";
import type { Drain } from "../store/drain.ts";
import type { RecentDevices } from "../visit/recent-devices.ts";
import { findKnownVisitor, type KnownVisitor, toldByCookie, unknownVisitor } from "./find-visitor.ts";

/** Gathers what a workflow may ask about a visit that begins. */
export interface SeenVisits {
  /**
   * Returns what the workflow may ask about a visit. Returns a promise only when something has to be looked up or
   * loaded. When the look-up fails or takes too long, the cookie alone tells whether the visitor returns. The promise
   * rejects only when the service cannot read its own data files.
   */
  of(plan: Plan, seen: SeenVisit, hasEvent: boolean): Visit | Promise<Visit>;
  /**
   * Returns whether a person, a bot or an agent sends the request. Rejects when the service cannot read its data files.
   */
  actorOf(seen: SeenVisit): Promise<DeviceActor>;
}

export interface SeenVisitsDeps {
  /** By workspace. */
  readonly turns: Turns;
  readonly reader: LazyReader;
  /** The devices that left something lately, by a visit or by an answer. */
  readonly recent: RecentDevices;
  /** The drain stores visits; the visitor's last visit may still be on its way to the database. */
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
      if (traitsOf(plan).asksNothing) return visitOf(seen, hasEvent, unread, unknownVisitor);
      const opened = reader.peek();
      if (opened === undefined) return reader.open().then((fresh) => read(deps, plan, seen, hasEvent, fresh));
      return read(deps, plan, seen, hasEvent, opened);
    },
    async actorOf({ headers }) {
      const { classify } = reader.peek() ?? (await reader.open());
      return classify(clippedHeader(headers["user-agent"]), headers).deviceActor;
    },
  };
}

interface PlanTraits {
  /** The workflow has no condition, no interaction and no capture, as on most links, which are plain redirects. */
  readonly asksNothing: boolean;
  /** A visit can change what a workflow finds out about the next visit of the same device. */
  readonly isRemembered: boolean;
}

const traits = new WeakMap<Plan, PlanTraits>();

function traitsOf(plan: Plan): PlanTraits {
  let known = traits.get(plan);
  if (known === undefined) {
    const steps = [...plan.steps.values()];
    const captures = steps.some(({ capture }) => capture !== undefined);
    const asks = steps.some(({ action }) => ["CONDITION", "INTERACTION"].includes(stepActions[action].kind));
    known = { asksNothing: !captures && !asks, isRemembered: captures || plan.needs.visitType };
    traits.set(plan, known);
  }
  return known;
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
  const needsVisitor = visitType || visitor;
  if (seen.level === "NONE" || !(needsVisitor || traitsOf(plan).isRemembered))
    return visitOf(seen, hasEvent, request, unknownVisitor);
  const keys = keysOf(deps, plan, seen, classification);
  const isRecent = deps.recent.meet(deviceNames(keys), seen.id.readUIntBE(0, 6));
  // Only a cookie that was sent, or the look of a bot, can have been here before.
  const mayBeKnown = keys.fingerprint !== "" || (keys.cookieHash !== "" && seen.cookieWasSent);
  if (!needsVisitor || !mayBeKnown) return visitOf(seen, hasEvent, request, unknownVisitor);
  // Only a device that may still have something in the spool waits for the drain.
  return lookUp(deps, plan, seen, classification, keys, isRecent).then((known) =>
    visitOf(seen, hasEvent, request, known),
  );
}

/** The keys by which the drain will recognise the device. */
function keysOf(
  { deviceKey }: SeenVisitsDeps,
  { workspaceId }: Plan,
  { id, level, headers, address, cookie }: SeenVisit,
  device: Classification,
): DeviceKeys {
  const userAgent = clippedHeader(headers["user-agent"]);
  const language = clippedHeader(headers["accept-language"]);
  const traits = { workspaceId, atMs: id.readUIntBE(0, 6), cookie, address, userAgent, language, device };
  return deviceKeys(traits, collect(level, {}), deviceKey);
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
  { turns, drain, onTrouble, catchUpMs = 300, lookUpMs = 500 }: SeenVisitsDeps,
  { workspaceId, linkId }: Plan,
  { id, level, cookieWasSent }: SeenVisit,
  { deviceActor }: VisitDevice,
  keys: DeviceKeys,
  isRecent: boolean,
): Promise<KnownVisitor> {
  const collection = collect(level, {});
  const sought = { workspaceId, linkId, atMs: id.readUIntBE(0, 6), ...keys };
  if (isRecent) await drain.catchUp(catchUpMs);
  try {
    const known = await within(lookUpMs, (signal) =>
      findKnownVisitor(turns.of(workspaceId, { patience: () => signal }), sought),
    );
    return mayHaveVisitor(collection, deviceActor) ? known : { ...known, attributes: undefined };
  } catch (error) {
    onTrouble(error);
    return toldByCookie(cookieWasSent);
  }
}
