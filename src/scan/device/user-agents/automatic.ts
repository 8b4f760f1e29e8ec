import { createIsbotFromList, isbot, list } from "isbot";

/*
 * Programs that no table names. Most say so by a word, an address of their operator, or by naming no browser at all. The
 * isbot package knows the words. In the user agent of a browser some of its words say nothing: phones are called
 * "Discovery" or "M bot", old Internet Explorers list the programs beside them, and in-app browsers separate with `|`.
 */

/** Patterns of isbot that browsers of people match, too. Those that begin with `^` are about texts without a browser. */
const noise: ReadonlySet<string> = new Set([
  "\\|",
  "\\(\\)",
  ";\\s\\w+;$",
  "\\b\\w+/1\\.0;",
  "@[a-z][\\w-]+\\.",
  "\\.com\\b",
  "(?:^|[^g])news(?!sapphire)",
  "(?<! channel/|google/)google(?!(?:wv|app|/google| pixel))",
  "(?<!lib)http",
  "advisor",
  "agent\\b",
  "catch",
  "chromeframe",
  "discovery",
  "download",
  "firephp",
  "java(?!;)",
  "library",
  "optimize",
  "proxy",
  "radar",
  "server",
  "sogou",
  "splash",
  "supercleaner",
  "tools",
  "torrent",
  "url",
]);

const saysBotInBrowser = createIsbotFromList(
  list.filter((pattern) => !noise.has(pattern) && !pattern.startsWith("^")),
);

/** Where to reach an operator. People's browsers carry none, but those of a few makers do, named here. */
const contact =
  /https?:\/\/(?!(?:www\.)?(?:bsalsa|qtweb|avantbrowser)\.)|\bwww\.(?!bsalsa|qtweb|avantbrowser)|[\w.]@[a-z0-9-]+\.[a-z]{2}|\s\(?[a-z0-9-]{2,40}\.(?:com|net|org|io)\b(?!\.)/i;

/** What Google calls its services beside a browser's name, and how others name their programs. */
const service =
  /\bgoogle[-_ ](?!app|pixel|wv|chrome|nexus|tv\b|play|toolbar|earth|assistant|lens|go\b|maps)[a-z]|[a-z-]agent\b|(?:proxy|server|fetcher|downloader)\/\d|\b(?:favicon|watcher|survey|screenshot|snapshot)\b/i;

/** What a browser is besides its words. */
interface BrowserTraits {
  /** The name of the phone, which is no part of what a program says of itself. */
  readonly model: string;
  /** Old ones say all kinds of things. */
  readonly isOld: boolean;
}

/** Whether the user agent of a browser belongs to a program that says so. */
export function isAutomaticBrowser(userAgent: string, { model, isOld }: BrowserTraits): boolean {
  const said = model === "" ? userAgent : userAgent.replaceAll(model, "");
  return saysBotInBrowser(said) || contact.test(said) || (!isOld && service.test(said));
}

/** A browser of 1996 names its system; who claims no more than to be compatible is none. */
const merelyCompatible = /^mozilla\/[\d.]+ \(compatible[;)]/i;

/** One product in front, with nothing that phones say: `LinkExaminer/1.01 (Windows)`. */
const product = /^(?!mozilla\/|opera\/)[\w.:+%~"-]{2,80}(?: [\w.]{2,40})?\/\S/i;
const phone = /android|iphone|ipad|ios\b|darwin|dalvik|mobile|phone/i;

/** Whether something that is no browser we know says that it is a program, or is of their form. */
export function isProgram(userAgent: string): boolean {
  if (isbot(userAgent) || contact.test(userAgent) || merelyCompatible.test(userAgent)) return true;
  return product.test(userAgent) && !phone.test(userAgent);
}
