import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A user agent of a public list, and what the list says of it. */
export interface ListedAgent {
  readonly userAgent: string;
  readonly list: string;
  /** True for crawlers, libraries and checkers; false for browsers of people. */
  readonly isProgram: boolean;
  /** Whether it belongs to the third that was held out while the tables were written. */
  readonly isHeldOut: boolean;
}

/** Where a list comes from: an npm package, whose own files say version and licence. */
export interface ListSource {
  readonly list: string;
  readonly version: string;
  readonly license: string;
}

const lists = {
  "crawler-user-agents": { file: "crawler-user-agents.json", read: readCrawlers },
  "random-useragent": { file: "useragent-data.json", read: readSwitcher },
  "user-agents": { file: "dist/user-agents.json", read: readBrowsers },
} as const;

type Named = Pick<ListedAgent, "userAgent" | "isProgram">;

const packages = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** Returns every user agent of the lists. A list that names one several times gives it once. */
export function readPublicLists(): ListedAgent[] {
  return Object.entries(lists).flatMap(([list, { file, read }]) => {
    const given: unknown = JSON.parse(readFileSync(join(packages, list, file), "utf8"));
    const distinct = new Map(read(given).map((named) => [named.userAgent, named]));
    return [...distinct.values()].map((named) => ({ ...named, list, isHeldOut: isHeldOut(named.userAgent) }));
  });
}

/** The lists with version and licence, as their packages state them. */
export function listSources(): ListSource[] {
  return Object.keys(lists).map((list) => {
    const text = readFileSync(join(packages, list, "package.json"), "utf8");
    const { version, license }: Omit<ListSource, "list"> = JSON.parse(text);
    return { list, version, license };
  });
}

/** Decides by the text alone, so that no user agent changes sides when a list grows. */
function isHeldOut(userAgent: string): boolean {
  return (hash("sha256", userAgent, "buffer")[0] ?? 0) % 3 === 0;
}

function readCrawlers(given: unknown): Named[] {
  const crawlers = given as { instances: string[] }[]; // the package's own file
  return crawlers.flatMap(({ instances }) => instances).map((userAgent) => ({ userAgent, isProgram: true }));
}

/** Real visits of some weeks, many of one user agent. */
function readBrowsers(given: unknown): Named[] {
  const visits = given as { userAgent: string }[]; // the package's own file
  return visits.map(({ userAgent }) => ({ userAgent, isProgram: false }));
}

const programFolder = /Spiders|Libraries|Validators|Downloaders/;
const browserFolder =
  /^\/Browsers|^\/Mobile Devices\/(?:Browsers|Devices|OS|WAP)|^\/Miscellaneous\/(?:Browsers|Game)/;

/** Reads the list of a browser extension, which is sorted into folders. Only known folders say what an entry is. */
function readSwitcher(given: unknown): Named[] {
  const sorted = given as { folder: string; userAgent: string }[]; // the package's own file
  return sorted
    .filter(({ folder }) => programFolder.test(folder) || browserFolder.test(folder))
    .map(({ folder, userAgent }) => ({ userAgent, isProgram: programFolder.test(folder) }));
}
