const nameLengthMax = 60;

/** Addresses of operators. Their pieces must not be taken for names. */
const addresses = /(?:https?:\/\/|\bwww\.)[^\s;,()]*|[\w.+-]{1,64}@[\w.-]{1,99}/gi;
const host =
  /(?:https?:\/\/(?:www\.)?|\bwww\.)([a-z0-9-][a-z0-9.-]{2,60})|\w@([a-z0-9-]{1,60}\.[a-z0-9.-]{2,60})/i;
/** The language of a browser: `en-US`. */
const language = /^[a-z]{2}[-_][a-z]{2}$/i;

/** Words with which browsers name themselves and their systems. */
const ofBrowsers =
  /^(?:mozilla|applewebkit|khtml|like|gecko|chrome|chromium|safari|version|mobile|firefox|opera|presto|trident|edge?|msie|windows|wow64|win64|x64|linux|ubuntu|x11|u|macintosh|intel|mac|os|iphone|ipad|cpu|android|build|compatible|rv|en|us|wv|i\d86|x86_64|nt|net|clr|unix|java|php|user-agent)$/i;

/** Words that name a kind of program and so are no names of their own. */
const kinds =
  /^(?:an?|the|my|is|by|from|for|and|at|bots?|robots?|crawlers?|spiders?|agent|monitor|monitoring|checker|scanner|preview|fetcher|feed|parser|http|https|client|library|link|search|web|site|test|news|html?|info)$/i;

const saysKind = /bot|crawl|spider|scan|fetch|preview|monitor|check|archiv|feed|index|search/i;

/**
 * Returns the name that a program gives itself: `FooBot` for `Mozilla/5.0 (compatible; FooBot/1.2; +http://…)`. Without
 * a name, returns that of the operator's host. Empty when the user agent has neither.
 */
export function givenName(userAgent: string): string {
  const own = userAgent.replaceAll(addresses, " ").replaceAll("%20", " ");
  const claims = own.split(/[;,()[\]{}<>|"\n]/).map(nameOf);
  const named = claims.filter((claim) => claim !== "");
  const [, site, mail] = host.exec(userAgent) ?? [];
  const name = named.find((claim) => saysKind.test(claim)) ?? named[0] ?? site ?? mail ?? "";
  return name.slice(0, nameLengthMax);
}

/** The words of one claim before its version, unless they are those of a browser. */
function nameOf(claim: string): string {
  const words = claim
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  const name: string[] = [];
  for (const word of words.slice(0, 24)) {
    const [product = "", version] = word.replace(/^[^\p{L}\d]+/u, "").split("/", 2);
    const isOfBrowser =
      ofBrowsers.test(product) ||
      product.startsWith("rv:") ||
      language.test(product) ||
      !/\p{L}{2}/u.test(product) ||
      /^v?\d[\d._]*$/.test(product);
    if (isOfBrowser) {
      if (name.length > 0) break;
      continue;
    }
    name.push(product);
    if (version !== undefined || name.length === 4) break;
  }
  return name.every((word) => kinds.test(word)) ? "" : name.join(" ").replace(/[-_:.+]$/, "");
}
