import type { IncomingMessage } from "node:http";
import type { Origin } from "../lib/client-address.ts";
import type { HostedPage } from "../pages/page.ts";
import type { SignInOrigin } from "../people/sign-in-origin.ts";
import type { Cookies } from "./cookies.ts";
import type { AuthLanguage } from "./words/languages.ts";

/** One request to a page. */
export interface Visit {
  readonly req: IncomingMessage;
  readonly query: URLSearchParams;
  readonly origin: Origin;
  readonly language: AuthLanguage;
  readonly cookies: Cookies;
  /** What forms of this browser hold in their hidden field. */
  readonly formToken: string;
  /** The address of a page of ours, as forms and links name it. */
  readonly pathTo: (page: string) => string;
  /** What is said above the form, such as that a form was refused. */
  readonly alert?: string;
}

/** The fields of a posted form; the first one of each name. */
export type Fields = ReadonlyMap<string, string>;

/** Where a request comes from, as a sign-in notes it. */
export function signInOrigin({ req, origin }: Pick<Visit, "req" | "origin">): SignInOrigin {
  return { address: origin.address, languages: req.headers["accept-language"] };
}

/**
 * What a page answers: a page to show, the way to another one of ours, or the way back to a program, to an address that the
 * program has registered.
 */
export type Reply = ({ readonly page: HostedPage } | { readonly to: string } | { readonly back: string }) & {
  readonly setCookies?: readonly string[];
};

/** Where a member goes on after signing in: to the request of a program that waits, or to the account. */
export function afterSignIn({ req, cookies }: Pick<Visit, "req" | "cookies">): string {
  const request = cookies.read(req.headers.cookie, "request");
  return request === undefined ? "account" : `oauth2/auth?${request}`;
}

/** How a page answers when it is opened, and when its form is sent. */
export interface PageActions {
  readonly open: (visit: Visit) => Promise<Reply> | Reply;
  readonly send?: (visit: Visit, fields: Fields) => Promise<Reply>;
}
