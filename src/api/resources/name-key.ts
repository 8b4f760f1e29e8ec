/** The key of a name that is unique in any case: the name in lower case. */
export function nameKey(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
