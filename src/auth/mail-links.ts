import { inTransaction } from "../db/open.ts";
import { networkOf } from "../lib/client-address.ts";
import { endGrants } from "../oauth/grants.ts";
import type { NamedChallenge } from "../people/challenges.ts";
import { readChallengeToken } from "../people/challenges.ts";
import { confirmAddress, findChallenge, type OpenChallenge, setPassword } from "../people/meet-challenge.ts";
import { passwordLengths } from "../people/passwords.ts";
import type { AuthDeps } from "./deps.ts";
import { type FormPage, field, formPage, hidden, username } from "./pages/form-page.ts";
import { noticePage } from "./pages/notice.ts";
import type { Fields, PageActions, Reply, Visit } from "./visit.ts";
import { filled, wordsOf } from "./words/languages.ts";
import type { Words } from "./words/words.ts";

type Kind = "INVITATION" | "PASSWORD_RESET" | "EMAIL_CONFIRMATION";

/**
 * A page to which the link of a mail leads. Opening it changes nothing, because mail programs open links by themselves;
 * only sending its form uses the link up.
 */
function mailLinkPage(
  deps: AuthDeps,
  kind: Kind,
  {
    form,
    act,
  }: {
    readonly form: (visit: Visit, found: OpenChallenge, isWrong: boolean) => FormPage;
    readonly act: (
      visit: Visit,
      challenge: NamedChallenge,
      fields: Fields,
    ) => Promise<Reply | "refused" | "wrong">;
  },
): PageActions {
  async function look(token: string): Promise<[NamedChallenge, OpenChallenge] | undefined> {
    const challenge = readChallengeToken(deps.challengeKey, token);
    const found = challenge && (await findChallenge(deps.db, challenge, kind, deps.now()));
    return challenge === undefined || found === undefined ? undefined : [challenge, found];
  }

  function show(visit: Visit, token: string, found: OpenChallenge, fault?: string): Reply {
    const page = form(visit, found, fault !== undefined);
    const fields = [hidden("challenge", token), ...(page.fields ?? [])];
    const status = fault === undefined ? 200 : 400;
    return { page: formPage(visit, { ...page, fields, fault, status }) };
  }

  return {
    async open(visit) {
      const token = visit.query.get("challenge") ?? "";
      const looked = await look(token);
      return looked === undefined ? { page: noticePage(visit, "LINK_OVER") } : show(visit, token, looked[1]);
    },
    async send(visit, fields) {
      const token = fields.get("challenge") ?? "";
      const looked = await look(token);
      const reply = looked === undefined ? "refused" : await act(visit, looked[0], fields);
      if (looked === undefined || reply === "refused") return { page: noticePage(visit, "LINK_OVER") };
      if (reply === "wrong")
        return show(visit, token, looked[1], wordsOf(visit.language).faults.PASSWORD_LENGTH);
      return reply;
    },
  };
}

/** The page of an invitation: it sets a password, which accepts. */
export function invitationPage(deps: AuthDeps): PageActions {
  return passwordPage(deps, "INVITATION", (words, found) => ({
    glyph: "mail",
    title: filled(words.invitationTitle, { workspace: found.workspaceName }),
    lead: filled(words.invitationLead, { email: found.email }),
    action: "invitation",
    button: words.setPassword,
  }));
}

/** The page for a new password instead of a forgotten one. */
export function resetPage(deps: AuthDeps): PageActions {
  return passwordPage(deps, "PASSWORD_RESET", (words, found) => ({
    glyph: "lock",
    title: words.resetTitle,
    lead: filled(words.resetLead, { email: found.email }),
    action: "reset",
    button: words.setPassword,
  }));
}

function passwordPage(
  deps: AuthDeps,
  kind: "INVITATION" | "PASSWORD_RESET",
  frame: (words: Words, found: OpenChallenge) => FormPage,
): PageActions {
  return mailLinkPage(deps, kind, {
    form(visit, found, isWrong) {
      const words = wordsOf(visit.language);
      const { min, max } = passwordLengths;
      const password = field({
        name: "password",
        type: "password",
        label: words.newPassword,
        help: words.passwordHelp,
        autocomplete: "new-password",
        minLength: min,
        maxLength: 2 * max, // browsers count an emoji as two
        isWrong,
      });
      return { ...frame(words, found), fields: [username(found.email), password] };
    },
    async act({ origin }, challenge, fields) {
      const password = fields.get("password") ?? "";
      const length = [...password].length;
      if (length < passwordLengths.min || length > passwordLengths.max) return "wrong";
      const passwordHash = await deps.passwords.hash(password, networkOf(origin.address));
      const met = await setPasswordAndEndGrants(deps, challenge, { kind, passwordHash });
      if (met === undefined) return "refused";
      deps.onMemberChanged({ workspaceId: challenge.workspaceId, memberId: met.memberId });
      return { to: "sign-in?done=password" };
    },
  });
}

/** Whoever had the account may have let programs in, or claimed it for their agent; a reset ends the access of all of them. */
async function setPasswordAndEndGrants(
  { db, now, onRevoked }: AuthDeps,
  challenge: NamedChallenge,
  { kind, passwordHash }: Pick<Parameters<typeof setPassword>[2], "kind" | "passwordHash">,
): Promise<OpenChallenge | undefined> {
  const at = now();
  const { met, ended } = await inTransaction(db, async (tx) => {
    const met = await setPassword(tx, challenge, { kind, passwordHash, at });
    if (met === undefined || kind !== "PASSWORD_RESET") return { met, ended: [] };
    const { workspaceId } = challenge;
    return { met, ended: await endGrants(tx, { workspaceId, memberId: met.memberId }, at) };
  });
  for (const grantId of ended) onRevoked(grantId);
  return met;
}

/** The page that confirms an address. */
export function confirmPage(deps: AuthDeps): PageActions {
  return mailLinkPage(deps, "EMAIL_CONFIRMATION", {
    form({ language }, { email }) {
      const words = wordsOf(language);
      const lead = filled(words.confirmLead, { email });
      return { glyph: "mail", title: words.confirmTitle, lead, action: "confirm", button: words.confirm };
    },
    async act(_visit, challenge) {
      const met = await confirmAddress(deps.db, challenge, deps.now());
      return met === undefined ? "refused" : { to: "sign-in?done=confirmed" };
    },
  });
}
