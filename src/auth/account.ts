import { html } from "hono/html";
import { endSession } from "../people/end-sessions.ts";
import { passkeysOf } from "../people/passkeys.ts";
import type { AuthDeps } from "./deps.ts";
import { buttonForm, formPage } from "./pages/form-page.ts";
import { passkeyList } from "./pages/passkeys.ts";
import { programList } from "./programs.ts";
import { signedInBy } from "./signed-in.ts";
import type { PageActions } from "./visit.ts";
import { filled, wordsOf } from "./words/languages.ts";

/** The page of whoever is signed in. */
export function accountPage(deps: AuthDeps): PageActions {
  return {
    async open(visit) {
      const signedIn = await signedInBy(deps, visit);
      if (signedIn === undefined) return { to: "sign-in" };
      const words = wordsOf(visit.language);
      const { session, email, workspaceName: workspace } = signedIn;
      const passkeys = await passkeysOf(deps.db, session);
      const programs = await programList(deps, visit, session);
      return {
        page: formPage(visit, {
          glyph: "check",
          title: words.accountTitle,
          lead: filled(words.accountLead, { email, workspace }),
          hasScript: true,
          below: html`${passkeyList(visit, passkeys)}${programs}${buttonForm(visit, "sign-out", { text: words.signOut, look: "" })}`,
        }),
      };
    },
  };
}

/** Ends the session of the browser, here and wherever its token was copied to. */
export function signOut(deps: AuthDeps): PageActions {
  return {
    open: () => ({ to: "account" }),
    async send(visit) {
      const signedIn = await signedInBy(deps, visit);
      if (signedIn !== undefined) {
        await endSession(deps.db, signedIn.session, deps.now());
        deps.onMemberChanged(signedIn.session);
      }
      return { to: "sign-in?done=signed-out", setCookies: [visit.cookies.write("session", "", 0)] };
    },
  };
}
