/** A part of a guide: a paragraph as HTML, a heading, or a program. */
export type GuidePart =
  | string
  | { readonly heading: string }
  | { readonly code: string; readonly language: string };

/** A page of documentation for people, which needs no script. Texts other than programs are trusted HTML. */
export function guidePage(title: string, parts: readonly GuidePart[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Signpost</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<nav><a href="/docs">API reference</a></nav>
<main>
<h1>${title}</h1>
${parts.map(partHtml).join("\n")}
</main>
</body>
</html>
`;
}

function partHtml(part: GuidePart): string {
  if (typeof part === "string") return `<p>${part}</p>`;
  if ("heading" in part) return `<h2>${part.heading}</h2>`;
  return `<pre tabindex="0"><code class="language-${part.language}">${escaped(part.code)}</code></pre>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 48rem; padding: 1.5rem; }
h1, h2 { line-height: 1.25; }
pre { overflow-x: auto; padding: 1rem; border: 1px solid; border-radius: 0.5rem; }
code { font: 0.9em ui-monospace, monospace; }
`;

/** The content security policy of guides: their own style, and nothing else. */
export const guidePolicy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
