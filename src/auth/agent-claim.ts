import { html } from "hono/html";
import { type ClaimLink, findClaimLink } from "../agents/attempts.ts";
import { type ClaimantDeps, proveClaimant } from "../agents/claimant.ts";
import { checkClaim, completeClaim } from "../agents/complete-claim.ts";
import { CallError } from "../lib/errors.ts";
import type { Markup } from "../pages/markup.ts";
import { passwordLengths } from "../people/passwords.ts";
import type { AuthDeps } from "./deps.ts";
import { type FormPage, field, formPage, hidden, username } from "./pages/form-page.ts";
import { noticePage } from "./pages/notice.ts";
import { signedInCookies, tooMany } from "./sign-in.ts";
import { type Fields, type PageActions, type Reply, signInOrigin, type Visit } from "./visit.ts";
import { filled, wordsOf } from "./words/languages.ts";
import type { Fault } from "./words/words.ts";

/** The name of the field, and of the query of the link, with the secret of the link. */
export const attemptField = "claim_attempt_token";

/** The page at which a person claims the workspace of an agent, by the link and the code that the agent shows. */
export function agentClaimPage(deps: AuthDeps): PageActions {
  const { db, now, agents } = deps;
  const look = async (token: string) => {
    const link = await findClaimLink({ db, now, tokens: agents.tokens }, token);
    return link?.status === "PENDING" ? link : undefined;
  };
  const show = (visit: Visit, token: string, link: ClaimLink, said: Said = {}): Reply => ({
    page: formPage(visit, { ...claimForm(visit, deps, token, link, said.wrong), ...said.shown }),
  });

  return {
    async open(visit) {
      const token = visit.query.get(attemptField) ?? "";
      const link = await look(token);
      return link === undefined ? { page: noticePage(visit, "LINK_OVER") } : show(visit, token, link);
    },
    async send(visit, fields) {
      const token = fields.get(attemptField) ?? "";
      const link = await look(token);
      if (link === undefined) return { page: noticePage(visit, "LINK_OVER") };
      const { faults } = wordsOf(visit.language);
      const length = [...(fields.get("password") ?? "")].length;
      if (length < passwordLengths.min || length > passwordLengths.max)
        return show(visit, token, link, {
          wrong: "password",
          shown: { status: 400, fault: faults.PASSWORD_LENGTH },
        });
      try {
        return await claim(deps, visit, fields);
      } catch (error) {
        const said = error instanceof CallError ? saidOf(visit, error) : undefined;
        if (said === undefined) throw error;
        // The fifth wrong code has closed the link.
        const open = said === "over" ? undefined : await look(token);
        if (said === "over" || open === undefined) return { page: noticePage(visit, "LINK_OVER") };
        return show(visit, token, open, said);
      }
    },
  };
}

/** Claims, and signs in the browser. The calls are those of the API. */
async function claim(deps: AuthDeps, visit: Visit, fields: Fields): Promise<Reply> {
  const { db, now, signSession, agents } = deps;
  const origin = signInOrigin(visit);
  const attempt = {
    token: fields.get(attemptField) ?? "",
    userCode: fields.get("code") ?? "",
    address: origin.address,
  };
  const link = await checkClaim({ db, now, tokens: agents.tokens }, attempt);
  const prover: ClaimantDeps = { ...deps, verifyFederated: undefined };
  const claimant = await proveClaimant(prover, link, { password: fields.get("password") ?? "" }, origin);
  const member = await completeClaim(db, link, { claimant, claimGrant: agents.grants.claim, at: now() });
  // Somebody else was faster.
  if (member === undefined) return { page: noticePage(visit, "LINK_OVER") };
  const { accessToken } = await signSession(member, now());
  return { to: "account", setCookies: signedInCookies(visit, accessToken) };
}

interface Said {
  readonly wrong?: "code" | "password";
  readonly shown?: Pick<FormPage, "status" | "fault" | "retryAfter">;
}

const faultOf: Partial<Record<CallError["reason"], Fault>> = {
  INVALID_USER_CODE: "WRONG_CODE",
  EMAIL_ALREADY_REGISTERED: "HAS_ACCOUNT",
};

/** What the form says of a refusal; undefined for what is none of the person's. */
function saidOf(visit: Visit, { reason, refusal }: CallError): Said | "over" | undefined {
  if (reason === "CLAIM_EXPIRED" || reason === "CLAIM_ALREADY_COMPLETED") return "over";
  if (reason === "RATE_LIMITED") return { shown: tooMany(visit, refusal.retryAfterSeconds ?? 1) };
  const fault = faultOf[reason];
  if (fault === undefined) return undefined;
  const shown = { status: fault === "HAS_ACCOUNT" ? 409 : 400, fault: wordsOf(visit.language).faults[fault] };
  return fault === "WRONG_CODE" ? { wrong: "code", shown } : { shown };
}

function claimForm(
  visit: Visit,
  { scopeDescriptions }: AuthDeps,
  token: string,
  { email, clientName, scope }: ClaimLink,
  wrong?: Said["wrong"],
): FormPage {
  const words = wordsOf(visit.language);
  const agent = clientName || words.someAgent;
  const { min, max } = passwordLengths;
  return {
    glyph: "signpost",
    title: words.claimTitle,
    lead: filled(words.claimLead, { agent, email }),
    action: "agent/claim",
    fields: [
      hidden(attemptField, token),
      permissions(filled(words.claimScopes, { agent }), sentencesOf(scope, scopeDescriptions)),
      field({
        name: "code",
        type: "text",
        label: words.code,
        help: words.claimCodeHelp,
        autocomplete: "one-time-code",
        inputMode: "numeric",
        maxLength: 16,
        isWrong: wrong === "code",
      }),
      username(email),
      field({
        name: "password",
        type: "password",
        label: words.newPassword,
        help: words.passwordHelp,
        autocomplete: "new-password",
        minLength: min,
        maxLength: 2 * max, // browsers count an emoji as two
        isWrong: wrong === "password",
      }),
    ],
    button: words.claim,
  };
}

/** What scopes allow. A scope that may write says what its read scope says too. */
function sentencesOf(scope: string, sentences: ReadonlyMap<string, string>): readonly string[] {
  return scope.split(" ").flatMap((name) => sentences.get(name) ?? []);
}

function permissions(title: string, sentences: readonly string[]): Markup {
  return html`<details open>
<summary>${title}</summary>
<ul>${sentences.map((sentence) => html`<li lang="en" dir="ltr">${sentence}</li>`)}</ul>
</details>
`;
}
