import type { Letter } from "./words/words.ts";

/** A letter with what stands above and below it. */
export interface WholeLetter extends Letter {
  readonly language: string;
  readonly greeting: string;
  readonly footer: string;
}

/** The text of a mail. */
export function textOf({ greeting, paragraphs, code, action, list, notes, footer }: WholeLetter): string {
  const parts = [
    greeting,
    ...paragraphs,
    ...(code === undefined ? [] : [code]),
    ...(action === undefined ? [] : [`${action.label}:\n${action.url}`]),
    ...(list === undefined ? [] : [`${list.title}:\n${list.items.map((item) => `- ${item}`).join("\n")}`]),
    ...notes,
    // Mail programs fold what follows this line.
    `-- \n${footer}`,
  ];
  return `${parts.join("\n\n")}\n`;
}

const styles = {
  body: "margin:0 auto;max-width:36em;padding:16px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif",
  code: "font:bold 28px/1.5 ui-monospace,Consolas,monospace;letter-spacing:.15em",
  button:
    "display:inline-block;padding:10px 18px;border-radius:6px;background:#1f5fd1;color:#ffffff;text-decoration:none;font-weight:bold",
  small: "font-size:13px;overflow-wrap:anywhere",
  footer: "margin-top:24px;border-top:1px solid #808080;padding-top:8px;font-size:13px",
} as const;

/**
 * The HTML of a mail: the same words as its text, without images and without anything that is loaded. Only the button has
 * a color of its own, so that dark programs show the rest in theirs.
 */
export function htmlOf({ language, subject, greeting, footer, ...letter }: WholeLetter): string {
  const { paragraphs, code, action, list, notes } = letter;
  const parts = [
    paragraph(greeting),
    ...paragraphs.map((text) => paragraph(text)),
    ...(code === undefined ? [] : [paragraph(code, styles.code)]),
    ...(action === undefined ? [] : [buttonOf(action)]),
    ...(list === undefined ? [] : [listOf(list)]),
    ...notes.map((text) => paragraph(text)),
    paragraph(footer, styles.footer),
  ];
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escaped(subject)}</title>
</head>
<body style="${styles.body}">
${parts.join("\n")}
</body>
</html>
`;
}

function paragraph(text: string, style?: string): string {
  return `<p${style === undefined ? "" : ` style="${style}"`}>${escaped(text)}</p>`;
}

function buttonOf({ label, url }: NonNullable<Letter["action"]>): string {
  const address = escaped(url);
  return `<p><a href="${address}" style="${styles.button}">${escaped(label)}</a></p>
<p style="${styles.small}">${address}</p>`;
}

function listOf({ title, items }: NonNullable<Letter["list"]>): string {
  return `${paragraph(`${title}:`)}
<ul>
${items.map((item) => `<li>${escaped(item)}</li>`).join("\n")}
</ul>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
