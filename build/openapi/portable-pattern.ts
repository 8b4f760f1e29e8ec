/**
 * Rewrites a pattern for regular expression engines without Unicode classes. A set with such a class becomes the set of
 * all characters except the ASCII ones that it refuses: the portable pattern accepts more, and the service refuses the
 * rest.
 */
export function portablePattern(pattern: string): string {
  return pattern.replace(/\[(?:[^\][\\]|\\.)*\]/g, (set) => (/\\[pP]\{/.test(set) ? withoutAscii(set) : set));
}

function withoutAscii(set: string): string {
  const allows = new RegExp(set, "u");
  const refused = Array.from({ length: 128 }, (_, code) => !allows.test(String.fromCharCode(code)));
  let ranges = "";
  for (let from = 0; from < refused.length; from++) {
    if (refused[from] !== true) continue;
    let to = from;
    while (refused[to + 1] === true) to++;
    ranges += to === from ? escaped(from) : `${escaped(from)}-${escaped(to)}`;
    from = to;
  }
  return `[^${ranges}]`;
}

function escaped(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}
