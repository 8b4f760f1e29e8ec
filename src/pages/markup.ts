import { html, raw } from "hono/html";

/**
 * A piece of a page. Everything put into `html` is escaped. `raw` is only for markup that this service has written
 * itself.
 */
export type Markup = ReturnType<typeof html>;

/** An attribute with a space before it: nothing for undefined, false and empty values, the bare name for true. */
export function attribute(name: string, value: string | number | boolean | undefined): Markup | "" {
  if (value === undefined || value === false || value === "") return "";
  return value === true ? raw(` ${name}`) : html` ${raw(name)}="${String(value)}"`;
}
