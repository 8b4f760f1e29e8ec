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
  "browsex",
  "ibisbrowser",
  "offbyone",
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
  /https?:\/\/(?!(?:www\.)?(?:bsalsa|qtweb|avantbrowser)\.)|\bwww\.(?!bsalsa|qtweb|avantbrowser|phaseout)|[\w.]@[a-z0-9-]+\.[a-z]{2}|\s\(?[a-z0-9-]{2,40}\.(?:com|net|org|io)\b(?!\.| Toolbar)|\bat [\w-]{1,40} dot [a-z]{2}/i;

/** Matches names of tools that work on sites, links or addresses, and of those that use a language model. */
const tool =
  /\b(?:seo|site|page|link|url|http)[-_]?(?:analy|audit|check|cop|find|get|grab|hunt|index|info|load|rank|rip|snap|stat|test|thumb|view|walk|watch)|backlink|crwlr|extractor|scrap(?:e|er|ing|y)\b|harvest|leech|malware|phish|screenshot|sniffer|thumbnail|verifier|\b(?:http|web)client|meter[ /]\d|cmd\/\d|winhttp\.|webcollage|cutycapt|(?:casper|phantom|slimer)js|(?:gpt|llm)\/\d/i;

/** WebKit and Gecko never say that they are compatible, and nothing stands behind a semicolon in their brackets. */
const compatibleEngine = /like Gecko(?:[;,] ?compatible|; ?\w)/i;
const compatible = /^Mozilla\/5\.0 \(compatible; (?!MSIE|Konqueror|.{0,40}(?:ABrowse|Web[Pp]ositive))/;
const modernEngine = /AppleWebKit\/|Gecko\/\d|Chrome\/\d/;

/** Matches names that Google gives its services beside a browser's name, and names of other operators' programs. */
const service =
  /\bgoogle[-_ ](?!app|pixel|wv|chrome|nexus|tv\b|play|toolbar|earth|assistant|lens|go\b|maps)[a-z]|[a-z-]agent\b|(?:proxy|server|fetcher|downloader)\/\d|\b(?:favicon|watcher|survey|snapshot|synthetics?|uptime)\b/i;

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
  if (saysBotInBrowser(said) || contact.test(said) || tool.test(said) || isImpossible(said)) return true;
  return !isOld && service.test(said);
}

/**
 * A program's name before that of Chrome (`DownloaderChrome/62.0`), a version of letters (`Chrome/W.X.Y.Z`), and names behind
 * Chrome's last version: those of browsers on computers have versions, since Chrome 20 without exception.
 */
const forms =
  /[a-z]Chrome\/\d|(?:Chrome|Firefox|Version|Safari)\/[A-Z]|(?:Windows NT|Macintosh|X11)[;) ].{1,200} Chrome\/(?:[2-9]\d|1\d\d)\..{1,60} Safari\/[\d.]{1,20} (?:[A-Z][A-Za-z.-]{3,30}(?: [A-Za-z.-]{1,30}){0,3}|\([A-Z]\w{1,40}\/\d[\d.]{0,20}\))$/;

/** Whether no browser sends such a user agent. */
function isImpossible(userAgent: string): boolean {
  const isCompatible = compatible.test(userAgent) && modernEngine.test(userAgent);
  return isCompatible || compatibleEngine.test(userAgent) || forms.test(userAgent);
}

/** A user agent that claims only to be compatible. Even a browser of 1996 also names its system. */
const merelyCompatible = /^mozilla\/[\d.]+ \(compatible[;)]/i;

/** A user agent that begins with one product of another name than a browser's: `LinkExaminer/1.01 (Windows)`. */
const product = /^(?!mozilla[/\\]|opera\/)[\w.:+%~"-]{2,80}(?: [\w.]{2,40})?\/\S/i;
const phone = /\b(?:android|tablet|iphone|ipad|ios|mobile|phone|FBAV\/)|iOS\b/i;
/** Names of engines and browsers, without which a browser says nothing. */
const engine = /AppleWebKit|Gecko\b|Trident|Presto|KHTML|Firefox ?\/\d|Safari\/\d|Chrome\/\d|WebView/i;
/** Words of systems, also in forms that no table knows: a browser names its system, and `Mozilla/5.0 Firefox/26.0` none. */
const system =
  /\bWin(?:dows|16|32|64|95|98|NT|\b)|\bNT \d|WOW64|X11|Mac|PPC|Linux|Fedora|Solaris|BREW|Nokia|Samsung|SonyEricsson|\bS60|like Gecko$|Gecko\/\d[\d.]* Ice/i;

/**
 * Whether a user agent of no known browser says that it is a program, or names neither a phone nor a system with a browser.
 */
export function isProgram(userAgent: string): boolean {
  const isTelling = isbot(userAgent) || contact.test(userAgent) || merelyCompatible.test(userAgent);
  if (isTelling || phone.test(userAgent)) return isTelling;
  return product.test(userAgent) || !engine.test(userAgent) || !system.test(userAgent);
}

/** Apple's client on an Intel Mac, where people have a browser, and in a service of the system without a version. */
const macClient =
  /CFNetwork\/\S{1,200} Darwin\/\S{1,60} \((?:x86_64|i386|Power)|\(unknown version\) CFNetwork\//;
/** Names of apps that fetch pages for other reasons than that somebody opens a link. */
const fetching =
  /^[^/(]{0,80}(?:archiv|backup|bot\b|check|crawl|download|extract|feed|index|mail|monitor|news|podcast|\brss|reeder|spider|sync|test|validat)/i;

/** Whether a user agent of an app's library says that no person opens a link with it. */
export function isAutomaticClient(userAgent: string): boolean {
  return macClient.test(userAgent) || fetching.test(userAgent);
}
