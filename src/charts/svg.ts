/** Names and values of attributes. Those that are undefined are left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An element with its content, which is markup already. */
export function element(name: string, attributes: Attributes, content = ""): string {
  const written = Object.entries(attributes).map(([key, value]) =>
    value === undefined ? "" : ` ${key}="${typeof value === "number" ? rounded(value) : escaped(value)}"`,
  );
  return content === ""
    ? `<${name}${written.join("")}/>`
    : `<${name}${written.join("")}>${content}</${name}>`;
}

/** How a text is written. `y` is its baseline. */
export interface TextStyle {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly fill: string;
  readonly anchor?: "middle" | "end" | undefined;
  readonly isBold?: boolean | undefined;
}

/** A line of text. It has no element when it is empty. */
export function line(text: string, { x, y, size, fill, anchor, isBold }: TextStyle): string {
  if (text === "") return "";
  const weight = isBold === true ? 600 : undefined;
  const attributes = { x, y, "font-size": size, fill, "text-anchor": anchor, "font-weight": weight };
  return element("text", attributes, escaped(text));
}

/** Where the baseline of a text is that stands in the middle of a height. */
export function middleOf(y: number, height: number, size: number): number {
  return y + height / 2 + size * 0.36;
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");
}

export function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}
