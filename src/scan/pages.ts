import { createHash } from "node:crypto";
import { html, raw } from "hono/html";

/** A page of fixed words: no script, no request to anybody, light or dark as the visitor's device is. */
export interface Page {
  readonly status: number;
  readonly body: Buffer;
}

const style = `
:root{color-scheme:light dark;--canvas:#f8fafc;--ink:#0f172a;--quiet:#475569;--line:#e2e8f0;--card:#fff}
@media(prefers-color-scheme:dark){:root{--canvas:#0b1120;--ink:#f1f5f9;--quiet:#94a3b8;--line:#1e293b;--card:#111827}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:1.5rem;background:var(--canvas);
color:var(--ink);font:400 1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:26rem;padding:2.5rem 2rem;text-align:center;background:var(--card);
border:1px solid var(--line);border-radius:1rem}
svg{display:block;margin:0 auto 1.25rem;color:var(--quiet)}
h1{margin:0 0 .5rem;font-size:1.375rem;line-height:1.3;font-weight:600;text-wrap:balance}
p{margin:0;color:var(--quiet);text-wrap:balance}
`;

/** Allows the one style of these pages and nothing else. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

function page(status: number, title: string, words: string): Page {
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${raw(style)}</style>
</head>
<body>
<main>
<svg width="44" height="44" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5"
 stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M12 3v18M12 5h6l2.5 2.5L18 10h-6M12 12H6l-2.5 2.5L6 17h6"/></svg>
<h1>${title}</h1>
<p>${words}</p>
</main>
</body>
</html>
`;
  return { status, body: Buffer.from(String(document)) };
}

/** No link has this address, or none any more; who asks is not told which. */
export const notFoundPage = page(
  404,
  "There is nothing here",
  "Please check the address, or scan the code again.",
);

/** The link is there, and leads nowhere at the moment. */
export const notAvailablePage = page(
  404,
  "Not available",
  "This link does not lead anywhere at the moment. Please try again later.",
);

export const badRequestPage = page(
  400,
  "That did not work",
  "The address could not be read. Please check it.",
);

export const wrongMethodPage = page(
  405,
  "That did not work",
  "This address can only be opened, not written to.",
);

export const tooManyPage = page(
  429,
  "Slow down, please",
  "Too many unknown addresses were asked for from your network. Please try again in a minute.",
);

export const unavailablePage = page(
  503,
  "Back in a moment",
  "This link cannot be looked up right now. Please try again.",
);

/** The bare address of a short host that is the service's own and has no other site. */
export const homePage = page(200, "Signpost", "Short links and QR codes are served here.");
