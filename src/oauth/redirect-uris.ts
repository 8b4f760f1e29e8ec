/** The most characters of a redirect URI, and the most URIs of a program. */
export const redirectUriLengthMax = 1_024;
export const redirectUrisMax = 20;

const printable = /^[\x21-\x7e]+$/;
const loopback = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?=[/?]|$)/;
/** Schemes that browsers act on by themselves, and schemes of other protocols. */
const refusedSchemes: ReadonlySet<string> = new Set(
  "about blob chrome chrome-extension data file filesystem ftp ftps http https javascript mailto ms-settings sms ssh tel vbscript view-source ws wss".split(
    " ",
  ),
);

/**
 * What is wrong with a redirect URI that a program wants to register; undefined when it is fine. https leads anywhere, http
 * only to the person's own device, and a scheme of the program's own to the program.
 */
export function redirectUriFault(uri: string): string | undefined {
  if (uri.length > redirectUriLengthMax) return `may have ${redirectUriLengthMax} characters at most`;
  if (!printable.test(uri) || /[\\"'<>`]/.test(uri) || !URL.canParse(uri)) return "must be an absolute URI";
  const { protocol, username, password, host } = new URL(uri);
  if (uri.includes("#")) return "must have no fragment";
  if (username !== "" || password !== "") return "must have no user name or password";
  if (protocol === "https:") return host === "" ? "must have a host" : undefined;
  if (protocol === "http:")
    return loopback.test(uri)
      ? undefined
      : "must begin with https://, or with http:// and localhost, 127.0.0.1 or [::1]";
  return refusedSchemes.has(protocol.slice(0, -1)) ? `must not have the scheme ${protocol}` : undefined;
}

/**
 * Whether a program that registered a redirect URI may be sent to another one: they are the same text, but for the port of
 * the person's own device, which a program chooses anew with each start (RFC 8252, 7.3).
 */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (redirectUriFault(uri) !== undefined) return false;
  return registered.some(
    (each) => each === uri || (loopback.test(each) && withoutPort(each) === withoutPort(uri)),
  );
}

function withoutPort(uri: string): string {
  return uri.replace(loopback, (beginning) => beginning.replace(/:\d{1,5}$/, ""));
}

/** Where a redirect URI leads, for people: a host, or undefined for their own device. */
export function hostOfRedirect(uri: string): string | undefined {
  const { protocol, host } = new URL(uri);
  return protocol === "https:" ? host : undefined;
}
