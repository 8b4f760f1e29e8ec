import { destinationFault } from "../model/links/destination.ts";

/**
 * Whether a browser opens the address as a web page: it runs no script, starts no other program and has no line break.
 */
export function isWebAddress(url: string): boolean {
  return /^https?:/i.test(url) && destinationFault(url) === undefined;
}
