/** What may precede the first element, with the text that ends it. */
const fronts: readonly (readonly [start: RegExp, end: string])[] = [
  [/^<\?xml/i, "?>"],
  [/^<!--/, "-->"],
  [/^<!doctype[^>[]*\[/i, "]>"],
  [/^<!doctype/i, ">"],
];

/** Whether a text begins like an SVG file. */
export function isSvg(head: string): boolean {
  let rest = head.replace(/^\u{feff}/u, "").trimStart();
  for (;;) {
    const front = fronts.find(([start]) => start.test(rest));
    if (front === undefined) return /^<(?:[\w.-]+:)?svg[\s/>]/i.test(rest);
    const end = rest.indexOf(front[1]);
    if (end < 0) return false;
    rest = rest.slice(end + front[1].length).trimStart();
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The start of a refused element, up to its name; the name may have a namespace prefix. */
const refusedElements = /<\s*(?:[\w.-]+:)?(script|foreignobject|iframe|object|embed|handler|listener)\b/i;

/**
 * The parts of an SVG file that a picture does not need: scripts, entities, addresses outside of the file. Returns
 * undefined when the file has none. It searches the text without parsing it, so it refuses too much rather than too
 * little; the renderer must still run and fetch nothing.
 */
export function svgFault(bytes: Uint8Array): string | undefined {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return "must be UTF-8 when it is SVG";
  }
  // With another declared encoding a parser would read another text than this one.
  const encoding = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']*)["']/i.exec(text)?.[1];
  if (text.includes("\0") || (encoding !== undefined && !/^(utf-?8|us-ascii)$/i.test(encoding)))
    return "must be UTF-8 when it is SVG";
  // The plain DOCTYPE of drawing programs names a document that nobody fetches. A DOCTYPE with declarations is refused.
  if (/<!entity/i.test(text) || hasDoctypeOfItsOwn(text))
    return "must not define entities: save the SVG without a DOCTYPE";
  if (/<\?(?!xml\s)/i.test(text)) return "must not have processing instructions or external style sheets";
  const element = refusedElements.exec(text)?.[1];
  if (element !== undefined)
    return `must not contain <${element.toLowerCase()}>: save the SVG as a plain picture`;
  if (/[\s"'/]on[a-z]+\s*=/i.test(text))
    return "must not have event handlers: save the SVG as a plain picture";
  if (hasOutsideReference(text))
    return "must not refer to anything outside: embed images as PNG or JPEG data";
  return undefined;
}

/** Whether a DOCTYPE has declarations of its own, or there are several DOCTYPEs. */
function hasDoctypeOfItsOwn(text: string): boolean {
  const [, first, second] = text.split(/<!doctype/i, 3);
  return second !== undefined || (first !== undefined && /^[^>[]*\[/.test(first));
}

/** What an `href` may be: a part of the same file, or an embedded picture; no character of it may be escaped. */
const insideHref = /^\s*(#|data:image\/(png|jpeg|webp);base64,)/i;

function hasOutsideReference(text: string): boolean {
  const hrefs = [...text.matchAll(/\b(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)];
  if (hrefs.some(([, double, single]) => !insideHref.test(double ?? single ?? ""))) return true;
  const urls = [...text.matchAll(/url\(\s*(?:["']|&quot;|&apos;)?([\s\S])/gi)];
  return urls.some(([, first]) => first !== "#") || /@import|\\75\s*rl|expression\s*\(/i.test(text);
}
