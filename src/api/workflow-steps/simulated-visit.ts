import { DeviceActor, DeviceType } from "../../../gen/signpost/v1/device_pb.js";
import { VisitType } from "../../../gen/signpost/v1/visit_pb.js";
import type { SimulatedVisit } from "../../../gen/signpost/v1/workflow_simulation_pb.js";
import { parseDate, parseNumber } from "../../model/visitors/attribute-operators.ts";
import type { AttributeType } from "../../model/workflow/attribute-capture.ts";
import type { Plan } from "../../model/workflow/plan.ts";
import type { KnownAttributes, Visit, VisitDevice } from "../../workflow/visit.ts";

/** Stands in place of the id of a visit. */
const lbidPlaceholder = "LBID";

/** The visit of a simulation, as the engine sees it. It knows no more than a real visit would at its level. */
export function simulatedVisit({ dataCollection }: Plan, given: SimulatedVisit | undefined): Visit {
  const device = deviceOf(given);
  const isKept = dataCollection !== "NONE";
  const hasVisitor = isKept && device.deviceActor !== "BOT" && device.deviceActor !== "AGENT";
  return {
    query: given?.query ?? "",
    lbid: () => lbidPlaceholder,
    dataCollection,
    visitType: isKept && given?.visitType === VisitType.RETURNING ? "RETURNING" : "FIRST",
    country: () => given?.country ?? "",
    device: () => device,
    attributes: hasVisitor ? attributesOf(given) : undefined,
  };
}

/** The visitor's attributes. The text of each decides the type that it was captured as. */
function attributesOf(given: SimulatedVisit | undefined): KnownAttributes {
  const entries = Object.entries(given?.attributes ?? {});
  return new Map(entries.map(([key, value]) => [key, { value, type: typeFor(value) }]));
}

function typeFor(value: string): AttributeType {
  if (parseNumber(value) !== undefined) return "NUMBER";
  return parseDate(value) === undefined ? "STRING" : "DATE";
}

function deviceOf(given: SimulatedVisit | undefined): VisitDevice {
  return {
    deviceType: deviceTypes[given?.deviceType ?? DeviceType.UNSPECIFIED],
    deviceActor: deviceActors[given?.deviceActor ?? DeviceActor.UNSPECIFIED],
    platformName: given?.platformName ?? "",
    browserName: given?.browserName ?? "",
    deviceBrand: given?.deviceBrand ?? "",
  };
}

const deviceTypes: { readonly [Type in DeviceType]: VisitDevice["deviceType"] } = {
  [DeviceType.UNSPECIFIED]: "UNKNOWN",
  [DeviceType.NATIVE]: "NATIVE",
  [DeviceType.MOBILE]: "MOBILE",
  [DeviceType.TABLET]: "TABLET",
  [DeviceType.DESKTOP]: "DESKTOP",
  [DeviceType.UNKNOWN]: "UNKNOWN",
};

const deviceActors: { readonly [Actor in DeviceActor]: VisitDevice["deviceActor"] } = {
  [DeviceActor.UNSPECIFIED]: "HUMAN",
  [DeviceActor.HUMAN]: "HUMAN",
  [DeviceActor.BOT]: "BOT",
  [DeviceActor.AGENT]: "AGENT",
  [DeviceActor.UNKNOWN]: "UNKNOWN",
};
