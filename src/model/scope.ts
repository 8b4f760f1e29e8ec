/** The public name of a scope from its name as an enum value: `API_SCOPE_LINKS_READ` is `links:read`. */
export function scopeName(enumValue: string): string {
  const words = enumValue.replace(/^API_SCOPE_/, "").toLowerCase();
  const cut = words.lastIndexOf("_");
  return `${words.slice(0, cut)}:${words.slice(cut + 1)}`;
}

/** Whether a scope of this public name allows changes. */
export function isWriteScope(name: string): boolean {
  return name.endsWith(":write") || name === "visitors:identify";
}
