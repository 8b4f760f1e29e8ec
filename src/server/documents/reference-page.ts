/** The API reference: a page whose scripts turn the OpenAPI document into readable documentation. */
export const referencePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signpost API reference</title>
<link rel="service-desc" type="application/json" href="/openapi.json">
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs scripts. The same facts are in <a href="/openapi.json">openapi.json</a>.</noscript>
<nav>
Guides: <a href="/docs/webhooks">Webhooks</a>, <a href="/docs/slack">Slack</a>, <a href="/docs/google-forms">Google Forms</a>
</nav>
<div id="reference"></div>
<script src="/docs/api-reference.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Starts the reference without any feature that would call other hosts: fonts, telemetry, proxy, assistants. */
export const referenceStart = `Scalar.createApiReference("#reference", {
  url: "/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: "",
  showDeveloperTools: "never",
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  persistAuth: false,
  authentication: { preferredSecurityScheme: "bearerAuth" },
  documentDownloadType: "direct",
  showOperationId: true,
});
`;

/**
 * The page's content security policy: scripts, documents and calls of this service only. Its scripts write styles into
 * the page and into attributes at run time, so no hash can name them.
 */
export const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
