import { createIsbotFromList, isbot, list } from "isbot";

/*
 * Recognises programs that no table names. Most contain a telling word or the address of their operator, or name no
 * browser at all. The isbot package knows the words. In the user agent of a browser, some of these words mean nothing:
 * phones are called "Discovery" or "M bot", old Internet Explorers list installed programs, and in-app browsers
 * separate with `|`.
 */

/** Patterns of isbot that people's browsers match too. Patterns that begin with `^` are for texts without a browser. */
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

/** Matches the address of an operator. People's browsers carry no address, except those of a few makers named here. */
const contact =
  /https?:\/\/(?!(?:www\.)?(?:bsalsa|qtweb|avantbrowser)\.)|\bwww\.(?!bsalsa|qtweb|avantbrowser)|[\w.]@[a-z0-9-]+\.[a-z]{2}|\s\(?[a-z0-9-]{2,40}\.(?:com|net|org|io)\b(?!\.)/i;

/** Matches names that Google gives its services beside a browser's name, and names of other operators' programs. */
const service =
  /\bgoogle[-_ ](?!app|pixel|wv|chrome|nexus|tv\b|play|toolbar|earth|assistant|lens|go\b|maps)[a-z]|[a-z-]agent\b|(?:proxy|server|fetcher|downloader)\/\d|\b(?:favicon|watcher|survey|screenshot|snapshot)\b/i;

/** The facts of a browser that its words alone do not tell. */
interface BrowserTraits {
  /** The model name of the phone. Its words say nothing about a program. */
  readonly model: string;
  /** Whether the browser is an old one, whose user agent may contain all kinds of words. */
  readonly isOld: boolean;
}

/** Whether a user agent of a browser's form says that it belongs to a program. */
export function isAutomaticBrowser(userAgent: string, { model, isOld }: BrowserTraits): boolean {
  const said = model === "" ? userAgent : userAgent.replaceAll(model, "");
  return saysBotInBrowser(said) || contact.test(said) || (!isOld && service.test(said));
}

/** A user agent that claims only to be compatible. Even a browser of 1996 also names its system. */
const merelyCompatible = /^mozilla\/[\d.]+ \(compatible[;)]/i;

/** A user agent that begins with one product of another name than a browser's: `LinkExaminer/1.01 (Windows)`. */
const product = /^(?!mozilla\/|opera\/)[\w.:+%~"-]{2,80}(?: [\w.]{2,40})?\/\S/i;
const phone = /android|iphone|ipad|ios\b|darwin|dalvik|mobile|phone/i;

/** Whether a user agent of no known browser says that it is a program, or has the form of a program's user agent. */
export function isProgram(userAgent: string): boolean {
  if (isbot(userAgent) || contact.test(userAgent) || merelyCompatible.test(userAgent)) return true;
  return product.test(userAgent) && !phone.test(userAgent);
}
