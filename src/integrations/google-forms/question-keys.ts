import { composed } from "../../lib/compose.ts";

/** How many characters the key of an attribute has at most. */
const keyLengthMax = 64;

/** How much of a title is read. Google cuts none, and the key needs no more of it. */
const titleReadMax = 1_000;

/** A question, with the title that people see. */
export interface TitledQuestion {
  readonly id: string;
  readonly title: string;
}

/**
 * The attribute key of every question, by the question's id: the title in lower case, with `_` for everything between
 * words. A question whose title has no letter or digit is named by its id. Of questions with one key, the second becomes
 * `…_2`, in the order of the form. No key begins with `$`, so no answer can pass for a visitor's identity.
 */
export function questionKeys(questions: readonly TitledQuestion[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const lastNumbers = new Map<string, number>();
  const keys = new Map<string, string>();
  for (const { id, title } of questions) {
    if (keys.has(id)) continue;
    const slug = slugOf(title) || slugOf(`question ${id}`);
    let number = lastNumbers.get(slug) ?? 0;
    let key: string;
    do {
      number += 1;
      key = number === 1 ? slug : numbered(slug, number);
    } while (taken.has(key));
    lastNumbers.set(slug, number);
    taken.add(key);
    keys.set(id, key);
  }
  return keys;
}

/** Letters and digits of any script, joined by `_`. Empty when there are none. */
export function slugOf(title: string): string {
  const words = composed(title.slice(0, titleReadMax).toWellFormed())
    .toLowerCase()
    // Lower case can take letters apart.
    .normalize("NFC")
    // Marks belong to their letters, as in Hindi and Thai; apostrophes stand within words.
    .replace(/['’]/g, "")
    .split(/[^\p{L}\p{M}\p{Nd}]+/u)
    .filter((word) => /[\p{L}\p{Nd}]/u.test(word));
  return cut(words.join("_"), keyLengthMax);
}

function numbered(slug: string, number: number): string {
  const ending = `_${number}`;
  return cut(slug, keyLengthMax - ending.length) + ending;
}

function cut(slug: string, length: number): string {
  const characters = [...slug];
  if (characters.length <= length) return slug;
  // No slug has two `_` side by side.
  const end = characters[length - 1] === "_" ? length - 1 : length;
  return characters.slice(0, end).join("");
}
