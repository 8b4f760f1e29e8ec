/** Reads and writes the cookies of the sign-in pages. */
export interface Cookies {
  /** The value of a cookie in a `Cookie` header; undefined when there is none. */
  read(header: string | undefined, name: CookieName): string | undefined;
  /** A `Set-Cookie` header that keeps a value for some seconds; 0 removes the cookie. */
  write(name: CookieName, value: string, seconds: number): string;
}

/**
 * The session, the proof that a password was right, the secret behind the tokens in forms, and the request of a program that
 * waits for its member to sign in.
 */
export type CookieName = "session" | "code" | "form" | "request";

/**
 * Over https the names begin with `__Host-`: browsers then take the cookie only from this very host, over TLS, so that
 * no neighbouring host can plant one. Scripts see none of them, and other sites' posts do not carry them.
 */
export function createCookies(isSecure: boolean): Cookies {
  const prefix = isSecure ? "__Host-signpost-" : "signpost-";
  const terms = `Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  return {
    read(header, name) {
      const start = `${prefix}${name}=`;
      const found = header
        ?.split(";")
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(start));
      return found?.slice(start.length);
    },
    write: (name, value, seconds) => `${prefix}${name}=${value}; Max-Age=${seconds}; ${terms}`,
  };
}
