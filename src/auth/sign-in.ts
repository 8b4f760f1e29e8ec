import { html } from "hono/html";
import { inWords } from "../pages/languages.ts";
import { passwordLengths } from "../people/passwords.ts";
import { sessionLifeMs } from "../people/sessions.ts";
import { type SignInOutcome, signIn, signInWithCode } from "../people/sign-in.ts";
import type { AuthDeps } from "./deps.ts";
import { type FormPage, field, formPage, links } from "./pages/form-page.ts";
import { passkeyButton } from "./pages/passkeys.ts";
import { signedInBy } from "./signed-in.ts";
import { afterSignIn, type PageActions, type Reply, signInOrigin, type Visit } from "./visit.ts";
import { filled, wordsOf } from "./words/languages.ts";
import type { Done, Fault } from "./words/words.ts";

/** How long the code of a mail can be entered, in seconds. */
const codeSeconds = 15 * 60;

/** The page for address and password. */
export function signInPage(deps: AuthDeps): PageActions {
  return {
    async open(visit) {
      if ((await signedInBy(deps, visit)) !== undefined) return { to: afterSignIn(visit) };
      return { page: formPage(visit, passwordForm(deps, visit)) };
    },
    async send(visit, fields) {
      const email = fields.get("email") ?? "";
      const password = fields.get("password") ?? "";
      const outcome = await signIn(deps, { email, password, ...signInOrigin(visit) });
      return next(visit, outcome, "WRONG", (fault) =>
        formPage(visit, { ...passwordForm(deps, visit, email, fault.isWrong), ...fault.shown }),
      );
    },
  };
}

/** The page for the code of a mail, after the password. */
export function codePage(deps: AuthDeps): PageActions {
  const tokenOf = ({ req, cookies }: Visit) => cookies.read(req.headers.cookie, "code");
  return {
    open: (visit) =>
      tokenOf(visit) === undefined ? { to: "sign-in" } : { page: formPage(visit, codeForm(visit)) },
    async send(visit, fields) {
      const token = tokenOf(visit);
      if (token === undefined) return { to: "sign-in" };
      const code = fields.get("code") ?? "";
      const outcome = await signInWithCode(deps, { token, code, ...signInOrigin(visit) });
      return next(visit, outcome, "WRONG_CODE", (fault) =>
        formPage(visit, { ...codeForm(visit, fault.isWrong), ...fault.shown }),
      );
    },
  };
}

interface Refusal {
  readonly isWrong: boolean;
  readonly shown: Pick<FormPage, "status" | "fault" | "retryAfter">;
}

function next(
  visit: Visit,
  outcome: SignInOutcome,
  fault: Fault,
  again: (refusal: Refusal) => ReturnType<typeof formPage>,
): Reply {
  const { faults } = wordsOf(visit.language);
  switch (outcome.kind) {
    case "signed-in":
      return { to: afterSignIn(visit), setCookies: signedInCookies(visit, outcome.session.accessToken) };
    case "code-needed":
      return { to: "code", setCookies: [visit.cookies.write("code", outcome.challenge, codeSeconds)] };
    case "refused":
      return { page: again({ isWrong: true, shown: { status: 401, fault: faults[fault] } }) };
    case "wait":
      return { page: again({ isWrong: false, shown: tooMany(visit, outcome.seconds) }) };
  }
}

/** A new session always gets a new cookie, so nobody can be led into the session of another one. */
export function signedInCookies({ cookies }: Visit, accessToken: string): string[] {
  return [cookies.write("session", accessToken, sessionLifeMs / 1000), cookies.write("code", "", 0)];
}

/** What a form says when its limit is used up. */
export function tooMany({ language }: Visit, seconds: number): Refusal["shown"] {
  const fault = filled(wordsOf(language).faults.WAIT, { when: inWords(language, seconds) });
  return { status: 429, fault, retryAfter: seconds };
}

function passwordForm(deps: AuthDeps, visit: Visit, email?: string, isWrong?: boolean): FormPage {
  const words = wordsOf(visit.language);
  const done = visit.query.get("done") ?? "";
  const ways: [string, string][] = [["forgotten", words.forgotten]];
  if (deps.allowsSignUp) ways.push(["sign-up", words.toSignUp]);
  return {
    glyph: "lock",
    title: words.signIn,
    note: isDone(done) ? words.done[done] : undefined,
    action: "sign-in",
    fields: [
      emailField(visit, email),
      field({
        name: "password",
        type: "password",
        label: words.password,
        autocomplete: "current-password",
        maxLength: 2 * passwordLengths.max, // browsers count an emoji as two
        isWrong,
      }),
    ],
    button: words.signIn,
    hasScript: true,
    below: html`${passkeyButton(visit, "sign-in")}${links(visit, ways)}`,
  };
}

function isDone(text: string): text is Done {
  return text === "password" || text === "confirmed" || text === "signed-out";
}

export function emailField({ language }: Visit, value?: string, isWrong?: boolean) {
  const { email } = wordsOf(language);
  return field({
    name: "email",
    type: "email",
    label: email,
    autocomplete: "username",
    maxLength: 254,
    value,
    isWrong,
  });
}

function codeForm({ language }: Visit, isWrong?: boolean): FormPage {
  const words = wordsOf(language);
  return {
    glyph: "mail",
    title: words.codeTitle,
    lead: words.codeLead,
    action: "code",
    fields: [
      field({
        name: "code",
        type: "text",
        label: words.code,
        autocomplete: "one-time-code",
        inputMode: "numeric",
        maxLength: 16,
        isWrong,
      }),
    ],
    button: words.continue,
  };
}
