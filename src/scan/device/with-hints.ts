import type { Classification, VisitHeaders } from "./classify.ts";
import { hiddenBrowser, hiddenPlatform, modelOf } from "./client-hints.ts";
import { brandOfModel } from "./user-agents/parse.ts";

/**
 * Corrects the class of a person's browser by its hints: the browser that the user agent hides behind Chrome, the
 * platform behind a desktop's, and the model, which Chrome's user agent no longer tells.
 */
export function withHints(byAgent: Classification, userAgent: string, headers: VisitHeaders): Classification {
  const { "sec-ch-ua": brandList, "sec-ch-ua-platform": platform, "sec-ch-ua-model": ofModel } = headers;
  if (brandList === undefined && platform === undefined && ofModel === undefined) return byAgent;
  let found = byAgent;
  const browser = byAgent.browserName === "Chrome" ? hiddenBrowser(brandList, userAgent) : undefined;
  if (browser) found = { ...found, browserName: browser.name, browserVersion: browser.version };
  const platformName = byAgent.deviceType === "DESKTOP" ? hiddenPlatform(platform, userAgent) : undefined;
  if (platformName) found = { ...found, ...onPlatform(platformName) };
  const deviceName = modelOf(ofModel);
  if (deviceName !== "" && found.platformName === "Android" && found.deviceName === "")
    found = { ...found, deviceName, deviceBrand: brandOfModel(deviceName) };
  return found;
}

/** A desktop's user agent on another platform is the desktop view of a tablet, or a desktop that names another. */
function onPlatform(platformName: string) {
  const deviceType = platformName === "Android" ? "TABLET" : "DESKTOP";
  const isMac = platformName === "macOS";
  return {
    deviceType,
    platformName,
    platformVersion: "",
    deviceBrand: isMac ? "Apple" : "",
    deviceName: isMac ? "Mac" : "",
  } as const;
}
