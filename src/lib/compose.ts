/** More marks on one letter than any script has: Unicode's own limit for texts that are read as they come (UAX #15). */
const marksMax = 30;

const mark = /\p{M}/uy;
const stack = /(?<!\p{M})(\p{M}{30})\p{M}+/gu;

/**
 * Whether a text stacks more marks on one letter than any script does. To bring so many in order takes time by the square
 * of their number: a second for 40 kB.
 */
export function stacksMarks(text: string): boolean {
  // A stack is longer than the stride, so that it holds one of the places that are looked at.
  for (let at = marksMax; at < text.length; at += marksMax) {
    if (!isMark(text, at)) continue;
    let start = at;
    while (start > 0 && isMark(text, start - 1)) start -= 1;
    while (isMark(text, at + 1)) at += 1;
    if (at - start >= marksMax) return true;
  }
  return false;
}

/** The text in NFC, without the marks that no script would have. */
export function composed(text: string): string {
  return (stacksMarks(text) ? text.replace(stack, "$1") : text).normalize("NFC");
}

function isMark(text: string, at: number): boolean {
  mark.lastIndex = at;
  return mark.test(text);
}
