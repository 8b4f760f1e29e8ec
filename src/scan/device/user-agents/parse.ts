import bowser from "bowser";
import { browserNames, modelBrands, platformNames } from "./devices.ts";
import { inAppBrowsers } from "./in-app-browsers.ts";
import { makerOf } from "./makers.ts";

/** What a user agent says about browser, platform and device; every field is empty where it says nothing. */
export type ParsedAgent = {
  formFactor: "MOBILE" | "TABLET" | "DESKTOP" | "UNKNOWN";
  browserName: string;
  browserVersion: string;
  platformName: string;
  platformVersion: string;
  deviceBrand: string;
  deviceName: string;
};

/** Every browser since 1994 begins like this. Of other programs that matter, only those that imitate a browser do. */
const browserForm = /^(?:Mozilla|Opera)\/\d/;
/** Televisions and consoles: a person may use them, but the contract has no form factor for them. */
const otherScreens =
  /\b(?:Smart-?TV|Tizen|Web0S|webOS\.TV|AppleTV|Apple TV|Android ?TV|Google ?TV|Opera TV|CrKey|Chromecast|BRAVIA|HbbTV|NetCast|NETTV|VIDAA|Viera|AQUOS|InettvBrowser|Roku|DTV|OTT|STB|TV ?(?:Box|Stick|Dongle)|MiTV|MIBOX|MI BOX|SHIELD Android|AFT[A-Z]{1,4}\b|PlayStation|Xbox|Nintendo)|[ _-]TV\b|TV(?: Build|;|\))|\bSMART_?TV/i;
/** Chrome has frozen the model to this letter for everyone. */
const frozenModel = "K";
const versionLengthMax = 40;
const modelLengthMax = 60;

/** Parses a user agent. It takes about 30 µs, so callers keep the result. Pure. */
export function parseUserAgent(userAgent: string): ParsedAgent {
  const dalvik = userAgent.startsWith("Dalvik/");
  if (!dalvik && !browserForm.test(userAgent)) return oldPhone(userAgent);
  const { browser, os } = bowser.parse(userAgent);
  const platformName = platformNames[os.name ?? ""] ?? os.name ?? otherScreens.exec(userAgent)?.[0] ?? "";
  const { brand, name } = deviceOf(userAgent, platformName);
  return {
    formFactor: formFactorOf(userAgent),
    ...(dalvik ? { browserName: "", browserVersion: "" } : browserOf(userAgent, browser)),
    platformName,
    platformVersion: cut(platformName === "Windows" ? os.versionName : os.version),
    deviceBrand: brand,
    deviceName: name,
  };
}

/** Phones before 2008 begin with their maker: `NokiaC3-00/5.0 (08.71) Profile/MIDP-2.1`. Of all else, nothing is known. */
const oldPhoneForm =
  /^(?:Mozilla )?(BlackBerry|Nokia|Samsung|SonyEricsson|LG|MOT|HTC|ZTE|Alcatel|Lenovo|Huawei|Panasonic|Sharp|Philips|Pantech|Sagem|Kyocera)(?=[\d/ _-]|[A-Z]+\d)/i;

function oldPhone(userAgent: string): ParsedAgent {
  const maker = oldPhoneForm.exec(userAgent)?.[1];
  return {
    formFactor: maker === undefined ? "UNKNOWN" : "MOBILE",
    browserName: "",
    browserVersion: "",
    platformName: "",
    platformVersion: "",
    deviceBrand: maker === undefined ? "" : makerOf(maker),
    deviceName: "",
  };
}

function browserOf(userAgent: string, parsed: { name?: string; version?: string }) {
  for (const { name, pattern } of inAppBrowsers) {
    const match = pattern.exec(userAgent);
    if (match) return { browserName: name, browserVersion: cut(match[1] ?? match[2]) };
  }
  const name = parsed.name ?? "";
  // For an unknown browser, bowser derives a name from the text. Only names of its own list count as browsers.
  const known = name in browserNames || Object.values<string>(bowser.BROWSER_MAP).includes(name);
  return known
    ? { browserName: browserNames[name] ?? name, browserVersion: cut(parsed.version) }
    : { browserName: "", browserVersion: "" };
}

const tablets = /iPad|Tablet|PlayBook|\bKF[A-Z]{3,4}\b|\bSilk\//;
const phones =
  /iPhone|iPod|Windows Phone|IEMobile|WPDesktop|Lumia|Windows CE|Symbian|Series[346]0|MIDP|BlackBerry|BB10|Opera Mini|UCWEB|PalmOS|PalmSource|KAIOS|\bMobile\b/;
const desktops =
  /Win(?:dows|16|32|95|98|NT| 9x)|Macintosh|Mac_|PPC|X11|CrOS|Linux|BSD|SunOS|OS\/2|Amiga|BeOS/;

function formFactorOf(userAgent: string): ParsedAgent["formFactor"] {
  if (otherScreens.test(userAgent)) return "UNKNOWN";
  if (tablets.test(userAgent)) return "TABLET";
  // Android tablets leave out "Mobile". Dalvik always leaves it out, but a device that scans codes is rarely a tablet.
  const isTablet = /Android/.test(userAgent) && !/Mobile|^Dalvik|Windows Phone/.test(userAgent);
  if (isTablet) return "TABLET";
  if (/Android/.test(userAgent) || phones.test(userAgent)) return "MOBILE";
  return desktops.test(userAgent) ? "DESKTOP" : "UNKNOWN";
}

/** Phones that are neither Apple's nor Android's name their makers. */
const otherMaker =
  /\b(Nokia|Lumia|BlackBerry|BB10|SonyEricsson|HTC|Samsung|LG|Huawei|Motorola|ZTE|Alcatel)(?=[\d/; _)-]|[A-Z]+\d)/i;

function deviceOf(userAgent: string, platformName: string): { brand: string; name: string } {
  if (platformName === "Android") return androidDevice(userAgent);
  const isOther = phones.test(userAgent) && !/^Mozilla\/5\.0 \(i/.test(userAgent);
  if (isOther) return { brand: makerOf(otherMaker.exec(userAgent)?.[1] ?? ""), name: "" };
  if (/\bSilk\//.test(userAgent)) return { brand: "Amazon", name: "" };
  const apple = /\b(iPhone|iPad|iPod|Macintosh)\b/.exec(userAgent)?.[1];
  return apple ? { brand: "Apple", name: apple === "Macintosh" ? "Mac" : apple } : { brand: "", name: "" };
}

/** Apps of Meta add the maker and the model: `Android (34/14; 450dpi; 1080x2340; samsung; SM-A546B; …)`. */
const madeBy = /; \d{2,5}x\d{2,5}; ([\w ]{2,20})[;/]|;FBMF\/([\w ]{2,20});/;

function androidDevice(userAgent: string): { brand: string; name: string } {
  const name = androidModel(userAgent);
  const [, instagram, facebook] = madeBy.exec(userAgent) ?? [];
  const brand = brandOfModel(name) || makerOf(instagram ?? facebook ?? "");
  return { brand: brand || (/Build\/HUAWEI/i.test(userAgent) ? "Huawei" : ""), name };
}

/** The maker of an Android device by its model name; empty where the model is of no known form. */
export function brandOfModel(model: string): string {
  return modelBrands.find(({ pattern }) => pattern.test(model))?.brand ?? makerOf(model);
}

/** The model is the last plain entry of the first parenthesis: `(Linux; Android 14; SM-S921B Build/UP1A; wv)`. */
function androidModel(userAgent: string): string {
  const entries = /\(([^)]*)/.exec(userAgent)?.[1]?.split(/;\s*/) ?? [];
  const start = entries.findIndex((entry) => /Android/.test(entry)) + 1;
  const model = entries
    .slice(start)
    .map((entry) => entry.split("Build/", 1)[0]?.trim() ?? "")
    .find(
      (entry) =>
        !/^(?:U|wv|[a-z]{2}(?:[-_][a-zA-Z]{2})?|HarmonyOS|HMSCore.*|Mobile|Tablet|rv:.*|)$/.test(entry),
    );
  return model === undefined || model === frozenModel ? "" : model.slice(0, modelLengthMax);
}

function cut(version: string | undefined): string {
  return (version ?? "").slice(0, versionLengthMax);
}
