/** The public name of a scope from its name as an enum value: `API_SCOPE_LINKS_READ` is `links:read`. */
export function scopeName(enumValue: string): string {
  const words = enumValue.replace(/^API_SCOPE_/, "").toLowerCase();
  const cut = words.lastIndexOf("_");
  return `${words.slice(0, cut)}:${words.slice(cut + 1)}`;
}

/** The two parts of a scope's public name: the resource, and whether the scope allows writing to it. */
export function scopeParts(name: string): { readonly resource: string; readonly mayWrite: boolean } {
  const [resource = "", access] = name.split(":");
  return { resource, mayWrite: access === "write" };
}

/** Stands in place of scope names for every scope, including those of later versions. */
export const everyScope = "*";

/** Scopes as one text, as tokens and OAuth have them (RFC 6749, 3.3). */
export function scopeText(names: Iterable<string>): string {
  return [...new Set(names)].sort().join(" ");
}

/** The names in such a text, and the read scope that each write scope includes. */
export function heldScopes(text: string): string[] {
  return text.split(" ").flatMap((name) => [name, name.replace(/:write$/, ":read")]);
}
