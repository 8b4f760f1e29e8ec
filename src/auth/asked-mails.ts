import { isEmail, normalEmail } from "../people/members.ts";
import { takeMailTry } from "../people/sign-in-tries.ts";
import type { AuthDeps } from "./deps.ts";
import { type FormPage, field, formPage, links } from "./pages/form-page.ts";
import { emailField, tooMany } from "./sign-in.ts";
import type { PageActions, Reply, Visit } from "./visit.ts";
import { wordsOf } from "./words/languages.ts";

/** The page for forgotten passwords. */
export function forgottenPage(deps: AuthDeps): PageActions {
  const form = (visit: Visit, email?: string, isWrong = false): FormPage => {
    const words = wordsOf(visit.language);
    return {
      glyph: "lock",
      title: words.forgottenTitle,
      lead: words.forgottenLead,
      action: "forgotten",
      fields: [emailField(visit, email, isWrong)],
      button: words.sendLink,
      below: links(visit, [["sign-in", words.toSignIn]]),
    };
  };
  return {
    open: (visit) => ({ page: formPage(visit, form(visit)) }),
    async send(visit, fields) {
      const email = normalEmail(fields.get("email") ?? "");
      const { faults } = wordsOf(visit.language);
      if (!isEmail(email))
        return { page: formPage(visit, { ...form(visit, email, true), status: 400, fault: faults.EMAIL }) };
      return ask(deps, visit, email, {
        queue: () => deps.queueJob(deps.db, "mail-reset", { email }),
        refused: (seconds) => formPage(visit, { ...form(visit, email), ...tooMany(visit, seconds) }),
      });
    },
  };
}

/** The page at which strangers make a workspace, where the operator allows it. */
export function signUpPage(deps: AuthDeps): PageActions {
  const form = (
    visit: Visit,
    given: { name?: string; email?: string; wrong?: "name" | "email" } = {},
  ): FormPage => {
    const words = wordsOf(visit.language);
    const name = field({
      name: "name",
      type: "text",
      label: words.workspaceName,
      autocomplete: "organization",
      maxLength: 255,
      value: given.name,
      isWrong: given.wrong === "name",
    });
    return {
      glyph: "signpost",
      title: words.signUpTitle,
      lead: words.signUpLead,
      action: "sign-up",
      fields: [name, emailField(visit, given.email, given.wrong === "email")],
      button: words.create,
      below: links(visit, [["sign-in", words.toSignIn]]),
    };
  };
  return {
    open: (visit) => ({ page: formPage(visit, form(visit)) }),
    async send(visit, fields) {
      const email = normalEmail(fields.get("email") ?? "");
      const name = nameOf(fields.get("name") ?? "");
      const { faults } = wordsOf(visit.language);
      const wrong = name === "" || [...name].length > 255 ? "name" : isEmail(email) ? undefined : "email";
      if (wrong !== undefined) {
        const fault = wrong === "name" ? faults.NAME : faults.EMAIL;
        return { page: formPage(visit, { ...form(visit, { name, email, wrong }), status: 400, fault }) };
      }
      return ask(deps, visit, email, {
        queue: () => deps.queueJob(deps.db, "sign-up", { email, name }),
        refused: (seconds) =>
          formPage(visit, { ...form(visit, { name, email }), ...tooMany(visit, seconds) }),
      });
    },
  };
}

/**
 * Queues what was asked for. The answer and the work before it are the same whether the address is known or not, and
 * when its mails of the hour are used up; a job finds out.
 */
async function ask(
  deps: AuthDeps,
  visit: Visit,
  email: string,
  {
    queue,
    refused,
  }: {
    readonly queue: () => Promise<void>;
    readonly refused: (seconds: number) => ReturnType<typeof formPage>;
  },
): Promise<Reply> {
  const taken = await takeMailTry(deps.db, { email, address: visit.origin.address }, deps.now());
  if (!taken.isAllowed && taken.by === "network") return { page: refused(taken.seconds) };
  if (taken.isAllowed) await queue();
  return { to: "sent" };
}

/** Says that a mail may be on its way. */
export function sentPage(): PageActions {
  return {
    open(visit) {
      const { sentTitle: title, sentLead: lead, toSignIn } = wordsOf(visit.language);
      return {
        page: formPage(visit, { glyph: "mail", title, lead, below: links(visit, [["sign-in", toSignIn]]) }),
      };
    },
  };
}

/** A name as one line, in the form in which names are compared. */
export function nameOf(text: string): string {
  return text
    .normalize("NFC")
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
}
