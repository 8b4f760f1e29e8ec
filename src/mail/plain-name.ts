/** How many characters of a name a mail shows. */
const shownMax = 80;

/**
 * Controls of lines and of writing direction, with which a name could pass for more than a name. The two that join letters
 * of Persian or parts of an emoji are harmless.
 */
const control = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Between the parts of an address, where mail programs recognize one; `J.R.R.` looks like one too. */
const joint = /(?<=\S)[.:/@](?=\S)/gu;

const rightToLeft = /\p{Script=Arabic}|\p{Script=Hebrew}|\p{Script=Syriac}|\p{Script=Thaana}/u;

/**
 * A text that people chose, such as a name, as one harmless line: it cannot begin a header or another line, turn the
 * direction of the words around it, or become a link. An empty text is shown as an ellipsis.
 */
export function plainName(text: string): string {
  const line = text
    .slice(0, 4 * shownMax)
    .replace(control, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  const characters = [...line];
  const cut = characters.length > shownMax ? `${characters.slice(0, shownMax - 1).join("")}…` : line;
  // A zero-width non-joiner is not seen, and ends what programs take for an address.
  const unlinked = cut.replace(joint, "$&\u200c");
  // An isolate keeps the order of the words around a name in another direction.
  return rightToLeft.test(unlinked) ? `\u2068${unlinked}\u2069` : unlinked || "…";
}
