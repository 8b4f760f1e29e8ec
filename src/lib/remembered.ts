import { ownText } from "./own-text.ts";

/**
 * Remembers what `of` gives for texts that come again and again, such as hosts and addresses. With `max` texts it
 * forgets all of them, because somebody is inventing texts. It remembers no undefined value. The texts must be short.
 */
export function remembered<Value>(max: number, of: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const own = ownText(text);
    const value = of(own);
    if (value === undefined) return value;
    if (known.size >= max) known.clear();
    known.set(own, value);
    return value;
  };
}
