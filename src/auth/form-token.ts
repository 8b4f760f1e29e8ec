import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Proves that a form was opened in the browser that sends it: the hidden field fits the cookie. */
export interface FormTokens {
  /** The secret of the cookie when it has the form of one, or else a new one. */
  secretOf(cookie: string | undefined): { readonly secret: string; readonly isNew: boolean };
  /** What the hidden field holds. */
  tokenOf(secret: string): string;
  fits(cookie: string | undefined, token: string | undefined): boolean;
}

const secretForm = /^[\w-]{22}$/;

/** `key` is derived for the purpose `sign-in-forms`. */
export function createFormTokens(key: Uint8Array): FormTokens {
  const tokenOf = (secret: string) => createHmac("sha256", key).update(secret).digest("base64url");
  return {
    secretOf(cookie) {
      if (cookie !== undefined && secretForm.test(cookie)) return { secret: cookie, isNew: false };
      return { secret: randomBytes(16).toString("base64url"), isNew: true };
    },
    tokenOf,
    fits(cookie, token = "") {
      if (cookie === undefined || !secretForm.test(cookie)) return false;
      const [wanted, given] = [Buffer.from(tokenOf(cookie)), Buffer.from(token)];
      return wanted.length === given.length && timingSafeEqual(wanted, given);
    },
  };
}
