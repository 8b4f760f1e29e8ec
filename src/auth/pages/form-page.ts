import { html } from "hono/html";
import type { Glyph } from "../../pages/icons.ts";
import { attribute, type Markup } from "../../pages/markup.ts";
import { type HostedPage, makePage } from "../../pages/page.ts";
import { alert, mark } from "../../pages/parts.ts";
import type { Visit } from "../visit.ts";

/** A page with one form, as every step of signing in is. */
export interface FormPage {
  readonly status?: number;
  /** Seconds until the form can be sent again. */
  readonly retryAfter?: number | undefined;
  readonly glyph: Glyph;
  readonly title: string;
  readonly lead?: string;
  /** What has just happened. */
  readonly note?: string | undefined;
  /** What is wrong; it stands above the form, and its field is marked. */
  readonly fault?: string | undefined;
  /** The page that the form is sent to. */
  readonly action?: string;
  readonly fields?: readonly (Markup | "")[];
  readonly button?: string;
  /** What stands below the form. */
  readonly below?: Markup | "";
  /** Whether the script for passkeys runs on it. */
  readonly hasScript?: boolean;
  /**
   * Whether the answer to its form may lead to a program. Browsers apply `form-action` to every address that an answer is sent
   * on to, and nobody knows where the program's own redirects lead.
   */
  readonly leadsAway?: boolean;
}

const style = [
  "[hidden]{display:none!important}",
  ".links{display:grid;gap:.25rem}",
  ".note{color:var(--quiet);font-weight:600}",
  "h2{margin:0;font-size:1.25rem}",
  ".keys{margin:0;padding:0;list-style:none}",
  "fieldset{margin:0;border:0;padding:0}",
].join("");

/** The directives of pages that run the one script of ours. */
const scriptPolicy = ["script-src 'self'", "connect-src 'self'"];

export function formPage(visit: Visit, page: FormPage): HostedPage {
  const {
    glyph,
    title,
    lead,
    note,
    fault,
    fields = [],
    below = "",
    hasScript = false,
    leadsAway = false,
  } = page;
  const said = fault ?? visit.alert;
  const form =
    page.action === undefined || page.button === undefined
      ? ""
      : html`<form class="answers" method="post" action="${visit.pathTo(page.action)}">
${hidden("form", visit.formToken)}${fields}<button class="button">${page.button}</button>
</form>
`;
  return makePage({
    status: page.status ?? 200,
    language: visit.language,
    title,
    headers: page.retryAfter === undefined ? [] : ["Retry-After", String(page.retryAfter)],
    sheets: ["controls"],
    style,
    hasForm: true,
    policy: [...(leadsAway ? [] : ["form-action 'self'"]), ...(hasScript ? scriptPolicy : [])],
    ...(hasScript && {
      head: html`<script src="${visit.pathTo("passkeys.js")}" defer></script>
`,
    }),
    content: html`${mark(glyph)}<header><h1>${title}</h1>${lead === undefined ? "" : html`<p class="lead">${lead}</p>`}</header>
${
  note === undefined
    ? ""
    : html`<p class="note" role="status">${note}</p>
`
}${said === undefined ? "" : alert(said)}${form}${below}`,
  });
}

export function hidden(name: string, value: string): Markup {
  return html`<input type="hidden" name="${name}" value="${value}">
`;
}

/** Tells password managers whose password a form sets. */
export function username(email: string): Markup {
  return html`<input type="text" autocomplete="username" value="${email}" hidden>
`;
}

/** A form that is one button. */
export function buttonForm(
  visit: Visit,
  action: string,
  { text, look = "plain", fields = "" }: ButtonForm,
): Markup {
  return html`<form method="post" action="${visit.pathTo(action)}">${hidden("form", visit.formToken)}${fields}<button class="button ${look}">${text}</button></form>
`;
}

interface ButtonForm {
  readonly text: string;
  readonly look?: string;
  readonly fields?: Markup | "";
}

/** Ways to other pages, below a form. */
export function links(visit: Visit, ways: readonly (readonly [page: string, text: string])[]): Markup {
  return html`<nav class="links">${ways.map(([page, text]) => html`<a class="button bare" href="${visit.pathTo(page)}">${text}</a>`)}</nav>
`;
}

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: "email" | "password" | "text";
  /** What browsers and password managers fill in. */
  readonly autocomplete: string;
  readonly value?: string | undefined;
  readonly help?: string;
  readonly isWrong?: boolean | undefined;
  readonly minLength?: number;
  readonly maxLength: number;
  readonly inputMode?: "numeric";
}

export function field(field: Field): Markup {
  const { name, label, type, help, isWrong } = field;
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" required autocomplete="${field.autocomplete}" autocapitalize="none" spellcheck="false" maxlength="${field.maxLength}"${attribute("minlength", field.minLength)}${attribute("inputmode", field.inputMode)}${attribute("value", field.value)}${attribute("aria-invalid", isWrong === true && "true")}${attribute("aria-describedby", help !== undefined && `${name}-help`)}${attribute("autofocus", isWrong)}${attribute("dir", type === "text" && name !== "code" ? undefined : "ltr")}>
${
  help === undefined
    ? ""
    : html`<p class="help" id="${name}-help">${help}</p>
`
}</div>
`;
}
