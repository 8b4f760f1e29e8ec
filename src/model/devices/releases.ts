/**
 * Which releases were current when, to tell how recent a visitor's software is. Sources: @mdn/browser-compat-data 8.1.9
 * (CC0) of 12 November 2026, and the makers' announcements for operating systems. A release newer than these counts as
 * current.
 */

/** A browser that comes out at a steady pace, so that its current release follows from the date. */
interface Pace {
  readonly major: number;
  /** The day of that release, and how many days later the next one came. */
  readonly on: string;
  readonly everyDays: number;
}

/**
 * Browsers by their name in devices. Opera is missing, because it counts its releases for phones and for desktops
 * apart.
 */
const browsers: Readonly<Record<string, Pace>> = {
  Chrome: { major: 157, on: "2026-11-03", everyDays: 14 },
  Edge: { major: 157, on: "2026-11-05", everyDays: 14 },
  Firefox: { major: 160, on: "2026-11-10", everyDays: 14 },
};

/** Browsers that come out about once a year under numbers of their own, the newest first. */
const slowBrowsers: Readonly<Record<string, readonly string[]>> = {
  // After 18, Apple went on to 26, which is named for the year to come.
  Safari: ["27", "26", "18", "17", "16", "15", "14", "13", "12", "11"],
  "Samsung Browser": ["30", "29", "28", "27", "26", "25", "24", "23", "22", "21"],
};

/**
 * Operating systems by their name in devices. macOS, ChromeOS and Linux are missing, because they name no release, or
 * always the same one.
 */
const platforms: Readonly<Record<string, readonly string[]>> = {
  iOS: ["27", "26", "18", "17", "16", "15", "14", "13", "12", "11"],
  Android: ["17", "16", "15", "14", "13", "12", "11", "10", "9", "8", "7"],
  Windows: ["11", "10", "8.1", "8", "7", "Vista", "XP"],
};

/** The versions that user agents are frozen to, whatever the device runs. */
const frozen: Readonly<Record<string, RegExp>> = {
  iOS: /^18[._][67]/,
  Android: /^10\b/,
  Windows: /^(?:NT )?10\b/,
};

const dayMs = 86_400_000;

/** How many major releases a browser is behind the current one. Undefined when the version does not tell. */
export function browserReleasesBehind(name: string, version: string, at: Date): number | undefined {
  const pace = Object.hasOwn(browsers, name) ? browsers[name] : undefined;
  if (pace === undefined) return placeIn(slowBrowsers, name, version);
  const major = Number.parseInt(version, 10);
  if (!(major > 0)) return undefined;
  const since = Math.floor((at.getTime() - Date.parse(pace.on)) / (pace.everyDays * dayMs));
  return Math.max(0, pace.major + since - major);
}

/** How many major releases an operating system is behind the current one. Undefined when the version does not tell. */
export function platformReleasesBehind(name: string, version: string): number | undefined {
  if (Object.hasOwn(frozen, name) && frozen[name]?.test(version)) return undefined;
  return placeIn(platforms, name, version);
}

function placeIn(
  lists: Readonly<Record<string, readonly string[]>>,
  name: string,
  version: string,
): number | undefined {
  const releases = Object.hasOwn(lists, name) ? lists[name] : undefined;
  if (releases === undefined || version === "") return undefined;
  const place = releases.findIndex((release) => version === release || version.startsWith(`${release}.`));
  if (place >= 0) return place;
  const major = Number.parseInt(version, 10);
  const newest = Number.parseInt(releases[0] ?? "", 10);
  if (Number.isNaN(major)) return undefined;
  return major > newest ? 0 : releases.length;
}
