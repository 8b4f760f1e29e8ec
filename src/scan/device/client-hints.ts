import type { VisitHeaders } from "./classify.ts";

/*
 * Client hints: Chromium says its brands and its platform in headers of their own, and its model where a site has asked
 * for it. Mostly they repeat the user agent. Here is what they say beyond it. All of it is a claim, like a user agent.
 */

/** Longer headers are cut. Chrome's brands take 120 characters. */
const hintLengthMax = 512;

/** Browsers by the brand that they send, with what their user agents contain where these name the browser as well. */
const brands: Readonly<Record<string, { readonly name: string; readonly sign: string }>> = {
  "AVG Secure Browser": { name: "AVG Secure Browser", sign: "AVG/" },
  "Avast Secure Browser": { name: "Avast Secure Browser", sign: "Avast/" },
  Brave: { name: "Brave", sign: "Brave/" },
  DuckDuckGo: { name: "DuckDuckGo", sign: "Ddg/" },
  HuaweiBrowser: { name: "Huawei Browser", sign: "HuaweiBrowser/" },
  "Microsoft Edge": { name: "Edge", sign: "Edg" },
  Opera: { name: "Opera", sign: "OPR/" },
  "Opera GX": { name: "Opera", sign: "OPR/" },
  "Samsung Internet": { name: "Samsung Browser", sign: "SamsungBrowser/" },
  Vivaldi: { name: "Vivaldi", sign: "Vivaldi/" },
  Whale: { name: "Whale", sign: "Whale/" },
  YaBrowser: { name: "Yandex Browser", sign: "YaBrowser/" },
};
const brand =
  /"(AVG Secure Browser|Avast Secure Browser|Brave|DuckDuckGo|HuaweiBrowser|Microsoft Edge|Opera GX|Opera|Samsung Internet|Vivaldi|Whale|YaBrowser)"; ?v="(\d[\d.]{0,20})"/;

/** Platforms by the value that Chromium sends, with what its user agents contain there. */
const platforms: Readonly<Record<string, { readonly name: string; readonly sign: string }>> = {
  '"Android"': { name: "Android", sign: "Android" },
  '"Chrome OS"': { name: "ChromeOS", sign: "CrOS" },
  '"Linux"': { name: "Linux", sign: "Linux" },
  '"Windows"': { name: "Windows", sign: "Windows" },
  '"macOS"': { name: "macOS", sign: "Mac OS X" },
};

const quotedModel = /^"([ !#-[\]-~]{1,60})/;

type Header = string | string[] | undefined;

function textOf(header: Header): string {
  return header === undefined ? "" : String(header).slice(0, hintLengthMax);
}

/** The browser of a brand list, unless the user agent names it as well. */
export function hiddenBrowser(
  header: Header,
  userAgent: string,
): { name: string; version: string } | undefined {
  if (header === undefined || header.includes('"Google Chrome"')) return undefined;
  const [, named = "", version = ""] = brand.exec(textOf(header)) ?? [];
  const known = brands[named];
  return known === undefined || userAgent.includes(known.sign) ? undefined : { name: known.name, version };
}

/** The platform of a hint, unless the user agent names it as well. */
export function hiddenPlatform(header: Header, userAgent: string): string | undefined {
  const text = textOf(header);
  const known = Object.hasOwn(platforms, text) ? platforms[text] : undefined;
  return known === undefined || userAgent.includes(known.sign) ? undefined : known.name;
}

/** The model of a hint; empty where the hint is missing, or says nothing. */
export function modelOf(header: Header): string {
  return quotedModel.exec(textOf(header))?.[1] ?? "";
}

/** Calls `keep` with each hint that says more than the user agent. */
export function eachHint(headers: VisitHeaders, keep: (name: string, value: string) => void): void {
  const { "sec-ch-ua": brandList, "sec-ch-ua-platform": platform, "sec-ch-ua-model": ofModel } = headers;
  if (brandList === undefined && platform === undefined && ofModel === undefined) return;
  const userAgent = String(headers["user-agent"] ?? "");
  if (hiddenBrowser(brandList, userAgent)) keep("sec-ch-ua", textOf(brandList));
  if (hiddenPlatform(platform, userAgent)) keep("sec-ch-ua-platform", textOf(platform));
  if (modelOf(ofModel) !== "") keep("sec-ch-ua-model", textOf(ofModel));
}
