/** Why an address that a customer gave is refused. */
export type AddressFault = "malformed" | "credentials" | "port" | "cleartext" | "private";

/** What the customer can do about it. */
export const addressFaults: Readonly<Record<AddressFault, string>> = {
  malformed: "must be an address such as https://example.com/path",
  credentials: "must not contain a user name or password",
  port: "must use port 80, port 443 or a port from 1024 on",
  cleartext: "must begin with https://",
  private: "must lead to the public Internet: its host is, or resolves to, a private or reserved address",
};

/** A web address, or why it is none. */
export type ReadAddress = { readonly url: URL } | { readonly fault: AddressFault };

/**
 * Reads an address as browsers do (the WHATWG's URL Standard), which turns every notation of an IPv4 address into the
 * dotted one. Texts that other programs would read otherwise are refused.
 */
export function readAddress(text: string): ReadAddress {
  if (/[\s\\]/.test(text) || !/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text))
    return { fault: "malformed" };
  const url = new URL(text);
  if (hostOf(url) === "") return { fault: "malformed" };
  if (url.username !== "" || url.password !== "") return { fault: "credentials" };
  const port = Number(url.port);
  // The lower ports belong to mail, shells and other services that take a request for orders.
  return port > 0 && port < 1024 && port !== 80 && port !== 443 ? { fault: "port" } : { url };
}

/** The host as names and addresses are compared: without brackets and the dots at its end. */
export function hostOf({ hostname }: Pick<URL, "hostname">): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, "");
}
