import type { DeviceChoice } from "../../model/steps/device-conditions.ts";
import type { ConditionAction } from "../../model/steps/kinds.ts";
import type { VisitDevice } from "../visit.ts";
import { condition, tellName } from "./condition.ts";

/** DEVICE_TYPE_CONDITION: the form of the device. A scanner that does not tell its form is unknown. */
export const deviceTypeCondition = deviceCondition("DEVICE_TYPE_CONDITION", "deviceType", (type) =>
  type === "NATIVE" ? "UNKNOWN" : type,
);

/** DEVICE_PLATFORM_CONDITION: the operating system. */
export const devicePlatformCondition = deviceCondition("DEVICE_PLATFORM_CONDITION", "platformName", bareName);

/** DEVICE_BROWSER_CONDITION: the browser. */
export const deviceBrowserCondition = deviceCondition("DEVICE_BROWSER_CONDITION", "browserName", bareName);

/** DEVICE_BRAND_CONDITION: the maker. */
export const deviceBrandCondition = deviceCondition("DEVICE_BRAND_CONDITION", "deviceBrand", bareName);

/** DEVICE_ACTOR_CONDITION: a person, a bot or an agent. */
export const deviceActorCondition = deviceCondition(
  "DEVICE_ACTOR_CONDITION",
  "deviceActor",
  (actor) => actor,
);

const nouns: { readonly [Key in keyof VisitDevice]: string } = {
  deviceType: "device type",
  platformName: "platform",
  browserName: "browser",
  deviceBrand: "brand",
  deviceActor: "actor",
};

/** What level NONE keeps of a device. Of anything else, a trace at that level does not say what was found. */
const keptAlways: readonly (keyof VisitDevice)[] = ["deviceType", "deviceActor"];

/** Traces give the name that was found and the names that were asked for under the same key. */
function deviceCondition(action: ConditionAction, key: keyof VisitDevice, wordFor: (name: string) => string) {
  return condition<DeviceChoice, string>(action, {
    subject: key,
    show: ({ id, name, value }) => ({ id, name, [key]: value }),
    look: (visit) => visit.device()[key],
    matches: ({ value }, name) => value !== "" && value === wordFor(name),
    hides: (visit) => visit.dataCollection === "NONE" && !keptAlways.includes(key),
    describe: (visit) => tellName(nouns[key], visit.device()[key]),
  });
}

/** `Samsung Browser` is SAMSUNG_BROWSER. */
function bareName(name: string): string {
  return name.toUpperCase().replaceAll(" ", "_");
}
