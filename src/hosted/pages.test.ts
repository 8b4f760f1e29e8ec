import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hostileTexts } from "../../test/pages/hostile.ts";
import { newField, newView, refusedForm, refusedPassword, steps } from "../../test/pages/specimens.ts";
import { images, themes } from "../../test/pages/themes.ts";
import { pageTheme } from "../model/look/page-theme.ts";
import { languages } from "../pages/languages.ts";
import { lookOf } from "../pages/look.ts";
import type { HostedPage } from "../pages/page.ts";
import { notice, tooManyTries } from "./notice.ts";
import { renderPreview } from "./steps/preview.ts";
import { renderStep } from "./steps/render-step.ts";
import type { StepView } from "./view.ts";

const header = ({ headers }: HostedPage, name: string) => headers[headers.indexOf(name) + 1] ?? "";
const textOf = ({ body }: HostedPage) => body.toString();
const kibibytes = 1_024;

test("is at most 17 kB for every page, in every language and theme, with something wrong in every field", () => {
  const sizes = languages.flatMap((language) =>
    [undefined, ...Object.values(themes)].flatMap((theme) => {
      const view = theme === undefined ? { language } : { language, theme };
      const pages = Object.values(steps).map((step) => renderStep(newView(step, view)));
      return [...pages, renderStep(refusedForm(view))].map(({ body }) => body.length);
    }),
  );
  expect(Math.max(...sizes)).toBeLessThanOrEqual(17 * kibibytes);
});

test("is at most 16 kB compressed in the richest theme, with a badge and a cover", () => {
  const colors = Array.from(
    { length: 50 },
    (_, index) => `rgba(${index * 5}, ${255 - index * 5}, 99, ${index * 2}%)`,
  );
  const stops = colors.map((_, index) => `${index * 2}.1234%`);
  const gradient = { type: "THEME_COLOR_TYPE_LINEAR", colors, stops, direction: "-123.4567deg" };
  const font = {
    fontSize: 33,
    italic: true,
    familyStack: `"${"Long Name ".repeat(19)}",serif`,
    color: gradient,
  };
  const theme = pageTheme({
    canvasColor: gradient,
    elementColor: gradient,
    badgeEnabled: true,
    titleFont: font,
    bodyFont: font,
    elementFont: font,
  });
  const pages = Object.values(steps).map((step) => renderStep(newView(step, { theme, media: images })));
  const sizes = [...pages, renderStep(refusedForm({ theme, media: images }))].map(
    ({ body }) => gzipSync(body).length,
  );
  expect(Math.max(...sizes)).toBeLessThanOrEqual(16 * kibibytes);
});

test.each([
  ["a page with a form", () => renderStep(newView(steps.form))],
  ["a page without", () => renderStep(newView(steps.thankYou))],
  ["a themed page", () => renderStep(newView(steps.form, { theme: themes.night }))],
  ["a page that moves on", () => renderStep(newView(steps.timer))],
  ["a notice", () => notice("NOT_FOUND", "en")],
])("allows the one style of %s by its hash, and no script, frame or request", (_, render) => {
  const page = render();
  const styles = [...textOf(page).matchAll(/<style>(.*?)<\/style>/gs)].map((match) => match[1] ?? "");
  const hashes = styles.map((style) => `'sha256-${createHash("sha256").update(style).digest("base64")}'`);
  expect(header(page, "Content-Security-Policy").replace(/; form-action 'none'/, "")).toBe(
    `default-src 'none'; style-src ${hashes.join("")}; img-src data:; base-uri 'none'; frame-ancestors 'none'`,
  );
  expect(textOf(page)).not.toMatch(/<script|\sstyle=|\son\w+=|@import|url\(/i);
});

test("ends with the one line that names the service, in every language, and only where it is wanted", () => {
  for (const language of languages) {
    for (const step of Object.values(steps)) {
      const page = textOf(renderStep(newView(step, { language, brandUrl: 'https://a.example/"><b>' })));
      expect(page.trimEnd(), language).toMatch(
        /<a class="brand" href="[^"]*">[^<]*Signpost[^<]*<\/a>\s*<\/main>\s*<p id="end" hidden><\/p>\s*<\/body>\s*<\/html>$/,
      );
      expect(page).toContain('href="https://a.example/&quot;&gt;&lt;b&gt;"');
      expect(page).not.toContain("{service}");
      expect(textOf(renderStep(newView(step, { language, brandUrl: "" })))).not.toMatch(/brand|Signpost/);
    }
  }
});

test("lets forms be sent, and allows none where there is none", () => {
  const policy = (view: StepView) => header(renderStep(view), "Content-Security-Policy");
  expect(policy(newView(steps.form))).not.toContain("form-action");
  expect(policy(newView(steps.thankYou))).toContain("form-action 'none'");
});

test("allows images from its own host, where its theme has any, and asks for no other address", () => {
  const shown = (theme: StepView["theme"], media: StepView["media"]) => {
    const page = renderStep(newView(steps.message, { theme, media }));
    const policy = header(page, "Content-Security-Policy");
    return [/img-src ([^;]*);/.exec(policy)?.[1], [...textOf(page).matchAll(/<img /g)].length];
  };
  expect(shown(themes.sunset, images)).toEqual(["data: 'self'", 2]);
  expect(shown(themes.night, { cover: images.cover })).toEqual(["data: 'self'", 1]);
  // A badge that is turned off.
  expect(shown(themes.night, { badge: images.badge })).toEqual(["data:", 0]);
  expect(shown(themes.sunset, {})).toEqual(["data:", 0]);
  const page = textOf(renderStep(newView(steps.message, { theme: themes.sunset, media: images })));
  const addresses = [...page.matchAll(/(?:src|srcset)="([^"]*)"/g)].flatMap(([, list = ""]) =>
    list.split(","),
  );
  expect(addresses.length).toBeGreaterThan(4);
  for (const address of addresses)
    expect(address).toMatch(
      /^\/_p\/files\/public\/pages\/[0-9a-f]{32}\/(tall|wide|square)-\d+x\d+\.webp( \d+w)?$/,
    );
});

test("gives upright screens the cut of a cover that fills them, and a band all of the image", () => {
  const pageIn = (mode: string) => {
    const theme = pageTheme({ canvasCoverMode: `PAGE_THEME_BACKGROUND_COVER_MODE_${mode}` });
    return textOf(renderStep(newView(steps.message, { theme, media: { cover: images.cover } })));
  };
  expect(pageIn("FULL")).toMatch(
    /<source media="\(orientation:portrait\)" srcset="[^"]*tall-1170x2532.webp 1170w" sizes="max\(100vw,46vh\)">/,
  );
  expect(pageIn("PROGRESSIVE_TOP")).not.toContain("tall");
  for (const mode of ["FULL", "PROGRESSIVE_TOP", "PROGRESSIVE_BOTTOM"])
    expect(pageIn(mode)).toMatch(
      /<img [^>]*wide-1920x1440.webp 1920w"[^>]* width="1920" height="1440" alt="" decoding="async"/,
    );
});

test("shows a step with 200, a wrong password with 401, a faulty form with 422, and what else is refused with its status", () => {
  expect(renderStep(newView(steps.password)).status).toBe(200);
  expect(renderStep(refusedPassword()).status).toBe(401);
  expect(renderStep(refusedForm()).status).toBe(422);
  const stale = renderStep(newView(steps.multiLink, { status: 422 }));
  expect(stale.status).toBe(422);
  expect(textOf(stale)).toContain('role="alert"');
});

test("never shows a password again", () => {
  const entered = new Map([["password", ["open sesame"]]]);
  expect(textOf(renderStep(refusedPassword({ entered })))).not.toContain("open sesame");
});

test("gives back what was entered, and default values only to who opens the form", () => {
  const fields = [
    newField("a", { defaultValue: "preset" }),
    newField("b", { type: "CHECKBOX", options, defaultValue: "1, 2, 3" }),
  ];
  const form = { action: "FORM_SUBMIT", payload: { ...steps.form.payload, fields } } as const;
  const opened = textOf(renderStep(newView(form)));
  expect(opened).toContain('value="preset"');
  expect(opened).toContain('value="1, 2" checked');
  expect(opened).not.toContain('value="4" checked');
  const entered = new Map([["field-b", ["4"]]]);
  const again = textOf(renderStep(newView(form, { entered, faults: new Map([["a", "REQUIRED"]]) })));
  expect(again).not.toContain("preset");
  expect(again).toContain('value="4" checked');
});
const options = [
  { label: "One, two", value: "1, 2" },
  { label: "Four", value: "4" },
];

test("draws a box without options as one that says yes, with its label, its default and its fault", () => {
  const fields = [
    newField("a", { type: "CHECKBOX", label: "I agree", required: true }),
    newField("b", { type: "CHECKBOX", label: "News", defaultValue: "true" }),
  ];
  const form = { action: "FORM_SUBMIT", payload: { ...steps.form.payload, fields } } as const;
  const opened = textOf(renderStep(newView(form)));
  const [agree, news] = opened.match(/<label class="choice"><input type="checkbox"[\s\S]*?<\/label>/g) ?? [];
  expect(agree).toMatch(/name="field-a" value="true" required>[\s\S]*<bdi>I agree<\/bdi>/);
  expect(news).toMatch(/name="field-b" value="true" checked>[\s\S]*<bdi>News<\/bdi>/);
  expect(opened).not.toContain("<fieldset");
  const again = textOf(renderStep(newView(form, { faults: new Map([["a", "REQUIRED"]]) })));
  expect(again).toMatch(/name="field-a"[^>]* aria-invalid="true" aria-describedby="f0-fault"/);
});

test("says its own words in the visitor's language where the owner has none, and the owner's where they have", () => {
  const german = textOf(renderStep(newView(steps.form, { language: "de" })));
  expect(german).toContain("Absenden");
  expect(german).toContain("Überspringen");
  expect(german).toContain('<html lang="de" dir="ltr">');
  const payload = { ...steps.form.payload, submitButtonText: "Go", skipButtonText: "No" };
  const own = textOf(renderStep(newView({ action: "FORM_SUBMIT", payload }, { language: "de" })));
  expect(own).toContain("<bdi>Go</bdi>");
  expect(own).not.toContain("Absenden");
});

test("names fields without a label by what they are asked for", () => {
  const fields = ["$email", "$phone", "$firstName", "$lastName", "constructor"].map((key, index) =>
    newField(String(index), { key }),
  );
  const form = { action: "FORM_SUBMIT", payload: { ...steps.form.payload, fields } } as const;
  const labels = [
    ...textOf(renderStep(newView(form, { language: "fr" }))).matchAll(/<label[^>]*><bdi>([^<]*)/g),
  ];
  expect(labels.map((match) => match[1])).toEqual(["E-mail", "Téléphone", "Prénom", "Nom", "constructor"]);
});

test("moves on by a header when the time is over", () => {
  const page = renderStep(newView(steps.timer, { action: "/x/s/1?lbid=y" }));
  expect(header(page, "Refresh")).toBe("8;url=/x/s/1?lbid=y&timer=1");
  expect(renderStep(newView(steps.message)).headers).not.toContain("Refresh");
});

test("makes only links that a browser opens as web pages, and letters and calls of what is written so", () => {
  const hostile = {
    ...steps.contactCard.payload,
    website: "javascript:alert(1)",
    phone: "+1;x",
    email: "a b&c?@d.example",
  };
  const card = { ...hostile, socialLinks: [{ platform: "github", url: "data:text/html,x" }] };
  const page = textOf(renderStep(newView({ action: "CONTACT_CARD", payload: card }, { brandUrl: "" })));
  const addresses = [...page.matchAll(/href="([^"]*)"/g)].map((match) => match[1]);
  expect(addresses).toEqual([
    "data:,",
    "#end",
    expect.stringContaining("/card.vcf?"),
    "mailto:a%20b%26c%3F@d.example",
  ]);
});

test("highlights the social link of order 1", () => {
  const page = textOf(renderStep(newView(steps.socialLinks)));
  expect([...page.matchAll(/class="button between"/g)]).toHaveLength(1);
  expect(page).toMatch(/class="button between" name="link" value="link-0"/);
});

const cardAddress = "https://go.example/_p/cards/menu.jpg?v=1";

test("previews a step with its words and tags, and never a form", () => {
  const view = { ...newView(steps.form), entrypoint: "https://go.example/menu", cardAddress };
  const page = renderPreview({ ...view, media: { cover: images.cover } });
  expect(page.status).toBe(200);
  const text = textOf(page);
  expect(text).not.toMatch(/<(?:form|input|button|a) /);
  const tags = [...text.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)"/g)].map((match) =>
    match.slice(1),
  );
  expect(Object.fromEntries(tags)).toEqual({
    viewport: "width=device-width,initial-scale=1",
    robots: "noindex",
    "theme-color": "#ffffff",
    description: "We answer within the hour.",
    "og:type": "website",
    "og:site_name": "go.example",
    "og:title": "Book a table",
    "og:description": "We answer within the hour.",
    "og:url": "https://go.example/menu",
    "og:image": `https://go.example/_p/files/public/pages/${"c0".repeat(16)}/wide-1920x1440.webp`,
    "og:image:width": "1920",
    "og:image:height": "1440",
    "twitter:card": "summary_large_image",
    "twitter:title": "Book a table",
    "twitter:description": "We answer within the hour.",
  });
});

test("previews a contact card by its name, and a page without a title by the link's", () => {
  const view = { ...newView(steps.contactCard), entrypoint: "https://go.example/a", cardAddress };
  expect(textOf(renderPreview(view))).toContain('property="og:title" content="Ada Lovelace"');
  const payload = { ...steps.multiLink.payload, title: "" };
  const untitled = {
    ...newView({ action: "MULTI_LINK", payload }),
    entrypoint: "https://go.example/a",
    cardAddress,
  };
  expect(textOf(renderPreview(untitled))).toContain('property="og:title" content="Summer campaign"');
});

test.each([
  ["NOT_FOUND", 404],
  ["NOT_AVAILABLE", 404],
  ["EXPIRED", 410],
  ["BAD_REQUEST", 400],
  ["FORBIDDEN", 403],
  ["WRONG_METHOD", 405],
  ["TOO_LARGE", 413],
  ["TOO_MANY_MISSES", 429],
  ["UNAVAILABLE", 503],
  ["HOME", 200],
] as const)("shows the notice %s with %i, made once for each language", (kind, status) => {
  for (const language of languages) {
    expect(notice(kind, language).status).toBe(status);
    expect(notice(kind, language)).toBe(notice(kind, language));
  }
});

test("says after too many tries when to come back, in a header and in words", () => {
  const page = tooManyTries("de", 840);
  expect(page.status).toBe(429);
  expect(header(page, "Retry-After")).toBe("840");
  expect(textOf(page)).toContain("in 14 Minuten");
});

test("colors the browser around the page like the canvas, by day and by night", () => {
  const colorsOf = (theme: StepView["theme"]) =>
    [...textOf(renderStep(newView(steps.form, { theme }))).matchAll(/<meta name="theme-color"[^>]*>/g)].map(
      String,
    );
  const night = '<meta name="theme-color" media="(prefers-color-scheme:dark)" content="#0d111a">';
  expect(colorsOf(pageTheme(null))).toEqual([night, '<meta name="theme-color" content="#ffffff">']);
  const canvasColor = { type: "THEME_COLOR_TYPE_LINEAR", colors: ["#7c2d12", "#000000"] };
  expect(colorsOf(pageTheme({ canvasColor }))).toEqual(['<meta name="theme-color" content="#7c2d12">']);
});

test("lets no stored styling say more than a look", () => {
  const text = fc.oneof(fc.constantFrom(...hostileTexts, "#fff;}*{x:url(//e)", "1px)}</style>"), fc.string());
  const value = fc.letrec((tie) => ({
    json: fc.oneof(
      { depthSize: "small" },
      text,
      fc.integer(),
      fc.constantFrom("THEME_COLOR_TYPE_LINEAR", "#123456", "45deg", "50%", true, null),
      fc.array(tie("json"), { maxLength: 3 }),
      fc.record(
        {
          type: tie("json"),
          colors: tie("json"),
          stops: tie("json"),
          direction: tie("json"),
          color: tie("json"),
          familyStack: tie("json"),
        },
        { requiredKeys: [] },
      ),
    ),
  })).json;
  const names = [
    "canvasColor",
    "titleFont",
    "bodyFont",
    "elementColor",
    "elementFont",
    "containerConfig",
    "badgeIconColor",
  ];
  const styling = fc.record({
    badgeEnabled: fc.constant(true),
    containerEnabled: fc.constant(true),
    ...Object.fromEntries(names.map((name) => [name, value])),
  });
  const form = /^:root\{([^{}]*)\}(@media\(prefers-color-scheme:dark\)\{:root\{([^{}]*)\}\})?$/;
  fc.assert(
    fc.property(styling, fc.boolean(), (stored, hasCover) => {
      const look = lookOf(pageTheme(stored), hasCover);
      const [, day = "", , night] = form.exec(look) ?? [];
      expect(day).not.toBe("");
      for (const line of `${day}${night === undefined ? "" : `;${night}`}`.split(";"))
        expect(line).toMatch(/^(?:color-scheme|--[a-z-]+):[^{}<>@\\:]+$/);
      expect(look).not.toMatch(/url|expression|import|var\(/i);
    }),
    { seed: 20_261_121, numRuns: 1_000 },
  );
});
