import { DeviceType } from "../../../gen/signpost/v1/device_pb.js";
import type { SimulateVisitsRequest } from "../../../gen/signpost/v1/sandboxes_service_pb.js";
import { invalid } from "../../lib/errors.ts";
import type { SimulatedDeviceType, SimulateVisits } from "../../model/simulated-visits.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { notFound } from "../resources/not-found.ts";
import { findEvents, findLinks, mayFill } from "./queries.ts";

const hoursByDefault = 24;

const deviceTypes: Readonly<Partial<Record<DeviceType, SimulatedDeviceType>>> = {
  [DeviceType.MOBILE]: "MOBILE",
  [DeviceType.TABLET]: "TABLET",
  [DeviceType.DESKTOP]: "DESKTOP",
};

/** Lets invented people visit links of a sandbox, and tells which visits were recorded. */
export async function simulateVisits(
  { now, simulateVisits: simulate }: { readonly now: () => Date; readonly simulateVisits: SimulateVisits },
  request: SimulateVisitsRequest,
  context: Context,
) {
  const { id, linkIds, countries, count, seed, hours } = request;
  const { db } = context;
  const at = now();
  const { workspaceId: callerId } = callerOf(context);
  if (!(await mayFill(db, { callerId, id, at }))) throw notFound("sandbox", "id", id);
  const found = await findLinks(db, id, linkIds);
  const missing = linkIds.findIndex((linkId) => !found.includes(linkId.toLowerCase()));
  if (missing >= 0) throw notFound("link", `linkIds[${missing}]`, linkIds[missing] ?? "", "in this sandbox");
  if (found.length === 0)
    throw invalid([{ field: "linkIds", description: "the sandbox has no links: create one first" }]);
  const made = await simulate({
    workspaceId: id,
    linkIds: linkIds.length === 0 ? found : linkIds,
    count,
    seed,
    countries,
    deviceTypes: request.deviceTypes.flatMap((type) => deviceTypes[type] ?? []),
    hours: hours === 0 ? hoursByDefault : hours,
    now: at,
    ruleTime: context.ruleTime(),
  });
  if ("unknownCountry" in made) throw unknownCountry(countries, made.unknownCountry);
  const eventIds = made.eventIds.length === 0 ? [] : await findEvents(db, id, made.eventIds);
  return { visitCount: eventIds.length, eventIds };
}

function unknownCountry(countries: readonly string[], country: string) {
  const field = `countries[${countries.indexOf(country)}]`;
  return invalid([{ field, description: `no network of ${country} is known: choose another country` }]);
}
