/**
 * The pattern in what regular expressions have in common everywhere. Unicode's classes are not among it, so a set with one
 * becomes the set without the ASCII characters it refuses: all others are let through, and the service refuses some of them.
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
