/** Up to this length of the sought text, `includes` takes time in proportion to the text that it looks through. */
const shortLength = 200;

/**
 * Whether a text contains another. `includes` multiplies the lengths of texts that repeat themselves: two of 4 KB took
 * 5 ms. For a long sought text this takes time in proportion to the sum of the lengths (Knuth, Morris and Pratt).
 */
export function contains(text: string, sought: string): boolean {
  if (sought.length <= shortLength) return text.includes(sought);
  if (sought.length > text.length) return false;
  const borders = bordersOf(sought);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    matched = extended(sought, borders, matched, text.charCodeAt(at));
    if (matched === sought.length) return true;
  }
  return false;
}

/** How much of the sought text matches after one more character, when so much of it matched before. */
function extended(sought: string, borders: Uint32Array, matched: number, character: number): number {
  while (matched > 0 && sought.charCodeAt(matched) !== character) matched = borders[matched - 1] ?? 0;
  return sought.charCodeAt(matched) === character ? matched + 1 : 0;
}

/** Lists look for one text in very many. */
let last = { sought: "", borders: new Uint32Array() };

/** For each beginning of a text, how long the longest shorter beginning is that it also ends with. */
function bordersOf(sought: string): Uint32Array {
  if (last.sought === sought) return last.borders;
  const borders = new Uint32Array(sought.length);
  for (let at = 1; at < sought.length; at++)
    borders[at] = extended(sought, borders, borders[at - 1] ?? 0, sought.charCodeAt(at));
  last = { sought, borders };
  return borders;
}
