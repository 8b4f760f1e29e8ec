import { destinationFault } from "../../model/links/destination.ts";

/** Whether a browser opens it as a web page: it runs nothing, starts no other program and breaks no line. */
export function isWebAddress(url: string): boolean {
  return /^https?:/i.test(url) && destinationFault(url) === undefined;
}
