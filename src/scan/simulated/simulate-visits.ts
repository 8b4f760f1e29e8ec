import { loadPlanOfLink } from "../../db/load-plan.ts";
import type { Db } from "../../db/open.ts";
import { mapInTurns } from "../../lib/limits/loop-turns.ts";
import { entrypointOf } from "../../model/links/entrypoint.ts";
import { scanMarker } from "../../model/links/redirect-target.ts";
import type { SimulateVisits, VisitsOrder } from "../../model/simulated-visits.ts";
import { compilePlan, type Plan } from "../../model/workflow/plan.ts";
import { decide } from "../../workflow/decide.ts";
import { journeyOf } from "../../workflow/journey.ts";
import type { Visit } from "../../workflow/visit.ts";
import { collect } from "../device/collection.ts";
import type { LazyReader, RequestReader } from "../device/request-reader.ts";
import { framedLength, frameInto, type RecordText } from "../spool/framed-records.ts";
import { encodeVisit, type SeenVisit } from "../spool/record-format.ts";
import { createVisitIds, lbidOf, textOfId } from "../spool/visit-id.ts";
import type { StoreRecords } from "../store/store-records.ts";
import { type Addresses, createAddresses } from "./addresses.ts";
import { inventPerson, mixedCountries, mixedDevices, oneOf, type Person, randomFrom } from "./people.ts";

export interface SimulateVisitsDeps {
  /** For the plans of links: a statement for each link. */
  readonly db: Db;
  /** Where real visits are stored, too. */
  readonly store: () => StoreRecords;
  readonly reader: LazyReader;
  readonly shortUrl: string;
}

const hourMs = 3_600_000;

/** How many visits a person makes on average. */
const visitsPerPerson = 1.6;

/** Records are handed over in parts of about this size, in bytes. */
const partBytes = 1024 * 1024;

/** An invented visit, before its link's workflow has seen it. */
interface PlannedVisit {
  readonly atMs: number;
  readonly plan: Plan;
  readonly person: Person;
  readonly isScan: boolean;
}

/**
 * Makes the function that invents visits. They take the way of real ones from where a request has been read: the link's
 * plan decides, the record is the same, and the same code stores it. Nothing is answered and nobody has a page open.
 */
export function createVisitSimulator({ db, store, reader, shortUrl }: SimulateVisitsDeps): SimulateVisits {
  const newVisitId = createVisitIds();
  let addresses: Addresses | undefined;

  return async (order) => {
    const opened = await reader.open();
    addresses ??= createAddresses(opened.geography);
    const countries = order.countries.length === 0 ? mixedCountries : order.countries;
    const places = new Map<string, readonly string[]>();
    for (const country of new Set(countries)) {
      const found = await addresses.of(country);
      if (found.length === 0) return { unknownCountry: country };
      places.set(country, found);
    }
    const plans = await plansOf(db, shortUrl, order);
    if (plans.length === 0) return { eventIds: [] };
    const visits = planVisits(order, plans, (name, random) => {
      const deviceTypes = order.deviceTypes.length === 0 ? mixedDevices : order.deviceTypes;
      return inventPerson({ name, countries, deviceTypes, addresses: places }, random);
    });
    const seen = new Set<string>();
    const eventIds: string[] = [];
    let part: { id: Buffer; text: RecordText }[] = [];
    let bytes = 0;
    const handOver = async () => {
      const chunk = chunkOf(part, bytes);
      part = [];
      bytes = 0;
      const { poison } = await store()([chunk], order.now);
      if (poison.length > 0) throw new Error(`a simulated visit cannot be stored: ${poison[0]?.reason}`);
    };
    await mapInTurns(visits, async (visit) => {
      const id = newVisitId(visit.atMs);
      const text = recordOf(visit, id, { order, opened, seen });
      if (text === undefined) return;
      eventIds.push(textOfId(id));
      part.push({ id, text });
      bytes += framedLength(text);
      if (bytes >= partBytes) await handOver();
    });
    if (part.length > 0) await handOver();
    return { eventIds };
  };
}

/** The plans of the links that still exist. A link that stands twice has two places in the list. */
async function plansOf(db: Db, shortUrl: string, { workspaceId, linkIds }: VisitsOrder): Promise<Plan[]> {
  const known = new Map<string, Plan>();
  for (const linkId of new Set(linkIds)) {
    const row = await loadPlanOfLink(db, workspaceId, linkId);
    if (row !== undefined) known.set(linkId, compilePlan(row, entrypointOf(row, shortUrl)));
  }
  return linkIds.flatMap((id) => known.get(id) ?? []);
}

/** Decides who visits what and when, in the order of time. */
function planVisits(
  { workspaceId, count, seed, hours, now }: VisitsOrder,
  plans: readonly Plan[],
  invent: (name: string, random: () => number) => Person,
): PlannedVisit[] {
  const random = randomFrom(seed);
  const people = Array.from({ length: Math.ceil(count / visitsPerPerson) }, (_, number) =>
    invent(`${workspaceId} ${seed} ${number}`, random),
  );
  const visits = Array.from({ length: count }, () => ({
    person: oneOf(people, random),
    plan: oneOf(plans, random),
    isScan: random() < 0.7,
    atMs: now.getTime() - Math.floor(random() * hours * hourMs),
  }));
  return visits.sort((one, other) => one.atMs - other.atMs);
}

interface Circumstances {
  readonly order: VisitsOrder;
  readonly opened: RequestReader;
  /** The links that each person has visited. */
  readonly seen: Set<string>;
}

/** Runs a visit through its workflow. Undefined when the link has expired by then, which leaves no visit. */
function recordOf(
  { atMs, plan, person, isScan }: PlannedVisit,
  id: Buffer,
  { order, opened, seen }: Circumstances,
): RecordText | undefined {
  const ruleMs = atMs + order.ruleTime.getTime() - order.now.getTime();
  if (plan.expiresAtMs <= ruleMs) return undefined;
  const headers = { "user-agent": person.userAgent, "accept-language": person.language };
  const { level, cookie: keepsCookie } = collect(plan.dataCollection, headers);
  const visited = `${person.cookie} ${plan.linkId}`;
  const isKnown = keepsCookie && seen.has(visited);
  seen.add(visited);
  const seenVisit: SeenVisit = {
    id,
    action: isScan ? "SCAN" : "CLICK",
    level,
    headers,
    address: person.address,
    cookie: keepsCookie ? person.cookie : "",
    // The same seed invents the same people again, and the service knows them then.
    cookieWasSent: keepsCookie,
    query: isScan ? scanMarker : "",
  };
  const visit: Visit = {
    query: seenVisit.query,
    lbid: () => lbidOf(id),
    dataCollection: level,
    visitType: isKnown ? "RETURNING" : "FIRST",
    country: () => opened.geography.placeOf(person.address).country,
    device: () => opened.classify(person.userAgent, headers),
    attributes: undefined,
  };
  const walk = decide(plan, visit, new Date(ruleMs));
  return encodeVisit(plan, seenVisit, walk, journeyOf(plan, walk));
}

/** Frames records as the spool does. The chunk owns its memory, because the storing thread takes it over. */
function chunkOf(
  records: readonly { id: Buffer; text: RecordText }[],
  bytes: number,
): Uint8Array<ArrayBuffer> {
  const memory = new ArrayBuffer(bytes);
  const frame = frameInto(Buffer.from(memory));
  for (const { id, text } of records) frame.add(id, text);
  return new Uint8Array(memory, 0, frame.length());
}
