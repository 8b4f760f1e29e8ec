/** The most marks kept on one letter; Unicode's own limit for streamed texts (UAX #15). No script uses more. */
const marksMax = 30;

const mark = /\p{M}/uy;
const stack = /(?<!\p{M})(\p{M}{30})\p{M}+/gu;

/**
 * Whether a text stacks more marks on one letter than any script does. The time to sort a stack grows with the square
 * of its length: a second for 40 kB.
 */
export function stacksMarks(text: string): boolean {
  // A stack is longer than the stride, so every stack covers one of the inspected positions.
  for (let at = marksMax; at < text.length; at += marksMax) {
    if (!isMark(text, at)) continue;
    let start = at;
    while (start > 0 && isMark(text, start - 1)) start -= 1;
    while (isMark(text, at + 1)) at += 1;
    if (at - start >= marksMax) return true;
  }
  return false;
}

/** The text in NFC, with every stack cut to 30 marks. */
export function composed(text: string): string {
  return (stacksMarks(text) ? text.replace(stack, "$1") : text).normalize("NFC");
}

function isMark(text: string, at: number): boolean {
  mark.lastIndex = at;
  return mark.test(text);
}
