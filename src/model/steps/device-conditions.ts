import { conditionFacts, type NamedChoice, namedBranch, namedOf, noLookups } from "./conditions.ts";
import { bare } from "./reading.ts";

export interface DeviceChoice extends NamedChoice {
  /** Bare and upper case: `MOBILE`, `IOS`, `CHROME`, `HUMAN`, `APPLE`. Empty matches nobody. */
  readonly value: string;
}

/** DEVICE_TYPE_CONDITION: the form of the device. */
export const deviceTypeCondition = deviceFacts("deviceTypeCondition", "DEVICE_TYPE_CONDITION_VALUE_");

/** DEVICE_PLATFORM_CONDITION: the operating system. */
export const devicePlatformCondition = deviceFacts(
  "devicePlatformCondition",
  "DEVICE_PLATFORM_CONDITION_VALUE_",
);

/** DEVICE_BROWSER_CONDITION: the browser. */
export const deviceBrowserCondition = deviceFacts(
  "deviceBrowserCondition",
  "DEVICE_BROWSER_CONDITION_VALUE_",
);

/** DEVICE_BRAND_CONDITION: the maker. */
export const deviceBrandCondition = deviceFacts("deviceBrandCondition", "DEVICE_BRAND_CONDITION_VALUE_");

/** DEVICE_ACTOR_CONDITION: a person, a bot or an agent. */
export const deviceActorCondition = deviceFacts("deviceActorCondition", "DEVICE_ACTOR_CONDITION_VALUE_");

function deviceFacts<const Name extends string>(name: Name, prefix: string) {
  return conditionFacts({
    name,
    list: "options",
    branch: namedBranch,
    read(choice): DeviceChoice {
      const value = bare(choice.value, prefix);
      return { ...namedOf(choice), value: value === "UNSPECIFIED" ? "" : value };
    },
    lackOf: ({ value, name: choiceName }) => (value === "" ? { name: choiceName, what: "value" } : undefined),
    lookups: noLookups,
  });
}
