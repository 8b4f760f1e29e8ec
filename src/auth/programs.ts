import { html } from "hono/html";
import { isUuid } from "../lib/ids.ts";
import { grantsMax } from "../model/grants.ts";
import { endGrants, type ListedGrant, listGrants } from "../oauth/grants.ts";
import type { Markup } from "../pages/markup.ts";
import type { Session } from "../people/sessions.ts";
import type { AuthDeps } from "./deps.ts";
import { buttonForm, hidden } from "./pages/form-page.ts";
import { signedInBy } from "./signed-in.ts";
import type { PageActions, Visit } from "./visit.ts";
import { filled, wordsOf } from "./words/languages.ts";

/** The programs that a member has let in, each with a button that ends its access. */
export async function programList({ db, now }: AuthDeps, visit: Visit, session: Session): Promise<Markup> {
  const { programs } = wordsOf(visit.language);
  const grants = await listGrants(db, session, { at: now(), limit: grantsMax });
  const list =
    grants.length === 0
      ? html`<p>${programs.none}</p>`
      : html`<ul class="keys">${grants.map((grant, index) => program(visit, grant, index))}</ul>`;
  return html`<section class="stack" aria-labelledby="programs">
<h2 id="programs">${programs.title}</h2>
<p class="quiet">${programs.lead}</p>
${list}
</section>
`;
}

function program(visit: Visit, grant: ListedGrant, index: number): Markup {
  const words = wordsOf(visit.language);
  const format = new Intl.DateTimeFormat(visit.language, { dateStyle: "long", timeZone: "UTC" });
  const text = filled(words.programOf, {
    program: grant.client_name,
    date: format.format(grant.created_at),
  });
  const label = `${words.programs.remove} (${index + 1})`;
  return html`<li><span>${text}</span><br><span class="quiet" lang="en" dir="ltr">${grant.scope}</span>${buttonForm(visit, "end-access", { text: label, look: "bare", fields: hidden("id", grant.id) })}</li>
`;
}

/** Ends the access of a program; its form works without the script. */
export function endAccessPage(deps: AuthDeps): PageActions {
  return {
    open: () => ({ to: "account" }),
    async send(visit, fields) {
      const signedIn = await signedInBy(deps, visit);
      const grantId = fields.get("id") ?? "";
      if (signedIn !== undefined && isUuid(grantId)) {
        const { workspaceId, memberId } = signedIn.session;
        const ended = await endGrants(deps.db, { workspaceId, grantId, memberId }, deps.now());
        for (const each of ended) deps.onRevoked(each);
      }
      return { to: "account" };
    },
  };
}
