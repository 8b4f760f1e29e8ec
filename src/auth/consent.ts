import { html } from "hono/html";
import { type AuthorizationRequest, requestLengthMax } from "../oauth/authorization-request.ts";
import { isDocumentAddress } from "../oauth/client-documents.ts";
import { isOauthFault } from "../oauth/oauth-fault.ts";
import { hostOfRedirect } from "../oauth/redirect-uris.ts";
import { withinRole } from "../oauth/scopes.ts";
import type { Asked } from "../oauth/server.ts";
import type { Markup } from "../pages/markup.ts";
import { readStanding } from "../people/standing.ts";
import type { AuthDeps } from "./deps.ts";
import { buttonForm, formPage, hidden } from "./pages/form-page.ts";
import { noticePage } from "./pages/notice.ts";
import { type SignedIn, signedInBy } from "./signed-in.ts";
import type { Fields, PageActions, Reply, Visit } from "./visit.ts";
import { filled, wordsOf } from "./words/languages.ts";
import type { Fault } from "./words/words.ts";

/** How long a request waits for its member to sign in, in seconds. */
const requestSeconds = 15 * 60;

/**
 * The page at which a member lets a program in (RFC 6749, 4.1). Whoever opens it signs in before anything is looked up: a stranger
 * could make the service fetch documents. Nobody is sent to a program but by a button of the page (RFC 9700, 4.11.2).
 */
export function consentPage(deps: AuthDeps): PageActions {
  async function withRequest(visit: Visit, act: (asked: AskedMember) => Promise<Reply>): Promise<Reply> {
    const query = visit.query.toString();
    if (query.length > requestLengthMax) return badProgram(visit, `more than ${requestLengthMax} characters`);
    const waits = visit.cookies.write("request", query, requestSeconds);
    const signedIn = await signedInBy(deps, visit);
    if (signedIn === undefined) return { to: "sign-in", setCookies: [waits] };
    try {
      const asked = await deps.oauth.read(visit.query, visit.origin.address);
      if (asked.request === undefined) return { page: faultyPage(visit, asked) };
      const standing = await readStanding(deps.db, signedIn.session);
      const ofRole = deps.oauth.scopesOf(standing?.role ?? "VIEWER");
      const offered = withinRole(asked.request.scopes, ofRole);
      const reply = await act({ visit, request: asked.request, signedIn, offered, query });
      return { ...reply, setCookies: reply.setCookies ?? [waits] };
    } catch (thrown) {
      if (isOauthFault(thrown)) return badProgram(visit, thrown.message, thrown.status);
      throw thrown;
    }
  }

  return {
    open: (visit) => withRequest(visit, async (asked) => ({ page: askPage(deps, asked) })),
    send: (visit, fields) =>
      withRequest({ ...visit, query: new URLSearchParams(fields.get("request") ?? "") }, async (asked) =>
        decide(deps, asked, fields),
      ),
  };
}

/** A member who is asked by a program. */
interface AskedMember {
  readonly visit: Visit;
  readonly request: AuthorizationRequest;
  readonly signedIn: SignedIn;
  /** The scopes that the member can grant. */
  readonly offered: readonly string[];
  /** The request as it came. */
  readonly query: string;
}

async function decide(deps: AuthDeps, asked: AskedMember, fields: Fields): Promise<Reply> {
  const { visit, request, signedIn, offered } = asked;
  const { workspaceId, memberId } = signedIn.session;
  const done = [visit.cookies.write("request", "", 0)];
  // Another member may have signed in since the page was opened, in another window of the browser.
  if (fields.get("member") !== memberId) return { page: askPage(deps, asked, "STALE") };
  if (fields.get("decision") === "refuse") return { back: deps.oauth.refusal(request), setCookies: done };
  const scopes = offered.filter((name) => fields.has(fieldOf(name)));
  if (scopes.length === 0) return { page: askPage(deps, asked, "NO_SCOPE") };
  const back = await deps.oauth.grant(request, { workspaceId, memberId, scopes });
  return back === undefined
    ? { page: askPage(deps, asked, "TOO_MANY_PROGRAMS") }
    : { back, setCookies: done };
}

function fieldOf(scope: string): string {
  return `allow ${scope}`;
}

function askPage(deps: AuthDeps, asked: AskedMember, fault?: Fault) {
  const { visit, request, signedIn, offered, query } = asked;
  const { client, redirectUri } = request;
  const words = wordsOf(visit.language);
  const { email, workspaceName: workspace } = signedIn;
  const program = client.name;
  const said = (text: string, facts = {}) => filled(text, { program, email, workspace, ...facts });
  const host = hostOfRedirect(redirectUri);
  const same = html`${hidden("request", query)}${hidden("member", signedIn.session.memberId)}`;
  const { consent } = words;
  return formPage(visit, {
    status: fault === undefined ? 200 : 400,
    glyph: "lock",
    title: said(consent.title),
    lead: said(consent.toContinue),
    fault: fault && words.faults[fault],
    leadsAway: true,
    action: "oauth2/auth",
    fields: [
      same,
      html`<p>${said(consent.unverified)}${isDocumentAddress(client.id) ? ` ${said(consent.described, { host: new URL(client.id).host })}` : ""} ${host === undefined ? consent.onDevice : said(consent.goesTo, { host })}</p>
<fieldset class="stack"><legend>${consent.may}</legend>
${offered.map((name) => scopeBox(name, deps.scopeDescriptions.get(name) ?? name))}</fieldset>
`,
    ],
    button: consent.allow,
    below: html`${buttonForm(visit, "oauth2/auth", { text: consent.refuse, fields: html`${same}${hidden("decision", "refuse")}` })}${buttonForm(visit, "sign-out", { text: words.signOut, look: "bare" })}`,
  });
}

/** Descriptions stand beside the scopes, in English. */
function scopeBox(name: string, description: string): Markup {
  return html`<label class="choice"><input type="checkbox" name="${fieldOf(name)}" value="true" checked><span lang="en" dir="ltr">${description}</span></label>
`;
}

/** A request of a known program that cannot be granted. */
function faultyPage(visit: Visit, { fault, back }: Extract<Asked, { readonly request: undefined }>) {
  const words = wordsOf(visit.language);
  const { title, text } = words.notices.BAD_PROGRAM;
  const below = html`<p lang="en" dir="ltr">${fault}</p>
<nav class="links"><a class="button bare" rel="noreferrer" href="${back}">${words.consent.back}</a></nav>
`;
  return formPage(visit, { status: 400, glyph: "signpost", title, lead: text, below });
}

/** A request of which nobody knows whom it comes from. */
function badProgram(visit: Visit, fault: string, status = 400): Reply {
  return { page: noticePage(visit, "BAD_PROGRAM", status, fault) };
}
