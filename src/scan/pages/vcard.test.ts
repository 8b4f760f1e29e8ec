import { expect, test } from "vitest";
import type { ContactCardPayload } from "../../model/steps/contact-card.ts";
import { cardFile } from "./vcard.ts";

const empty: ContactCardPayload = {
  firstName: "",
  lastName: "",
  title: "",
  organization: "",
  email: "",
  phone: "",
  phoneIsWhatsapp: false,
  website: "",
  streetAddress: "",
  city: "",
  state: "",
  postalCode: "",
  country: "",
  socialLinks: [],
  buttonLabel: "",
};
const revisedAt = new Date("2026-08-01T12:00:00Z");

const text = (card: Partial<ContactCardPayload>) =>
  cardFile({ ...empty, ...card }, revisedAt).body.toString();

/** The lines as a reader joins them again (RFC 2425, section 5.8.1), without those that every card has. */
function properties(card: Partial<ContactCardPayload>): string[] {
  const lines = text(card)
    .replaceAll(/\r\n[ \t]/g, "")
    .split("\r\n");
  expect([lines[0], lines[1], lines.at(-2), lines.at(-1)]).toEqual([
    "BEGIN:VCARD",
    "VERSION:3.0",
    "END:VCARD",
    "",
  ]);
  return lines.slice(2, -2).filter((line) => !/^(?:PRODID|REV):/.test(line));
}

function disposition(card: Partial<ContactCardPayload>): string | undefined {
  return cardFile({ ...empty, ...card }, revisedAt).headers[3];
}

test("writes everything a contact card has", () => {
  const card: ContactCardPayload = {
    firstName: "Ada",
    lastName: "Lovelace",
    title: "Analyst",
    organization: "Engines Ltd",
    email: "ada@engines.example",
    phone: "+442071234567",
    phoneIsWhatsapp: true,
    website: "https://engines.example/?a=1,2;3",
    streetAddress: "12 St James's Square",
    city: "London",
    state: "Greater London",
    postalCode: "SW1Y 4JH",
    country: "United Kingdom",
    socialLinks: [{ platform: "github", url: "https://github.example/ada" }],
    buttonLabel: "Save",
  };
  expect(properties(card)).toEqual([
    "FN:Ada Lovelace",
    "N:Lovelace;Ada;;;",
    "ORG:Engines Ltd",
    "TITLE:Analyst",
    "TEL;TYPE=VOICE:+442071234567",
    "EMAIL;TYPE=INTERNET:ada@engines.example",
    "ADR;TYPE=WORK:;;12 St James's Square;London;Greater London;SW1Y 4JH;United Kingdom",
    "URL:https://engines.example/?a=1,2;3",
    "item1.URL:https://wa.me/442071234567",
    "item1.X-ABLABEL:WhatsApp",
    "item2.URL:https://github.example/ada",
    "item2.X-ABLABEL:GitHub",
  ]);
  expect(text(card)).toContain("\r\nREV:2026-08-01T12:00:00.000Z\r\n");
});

test("writes a name of any kind, and nothing that is not known", () => {
  expect(properties({ firstName: "Ada" })).toEqual(["FN:Ada", "N:;Ada;;;"]);
  expect(properties({ organization: "Engines Ltd" })).toEqual([
    "FN:Engines Ltd",
    "N:;;;;",
    "ORG:Engines Ltd",
  ]);
});

test.each([
  ["a semicolon", "Love;lace", "Love\\;lace"],
  ["a comma", "Love,lace", "Love\\,lace"],
  ["a backslash", "Love\\lace", "Love\\\\lace"],
  ["a line break", "Love\nlace", "Love lace"],
  ["a return", "Love\r\nEND:VCARD\rX", "Love END:VCARD X"],
  ["a line separator", "Love\u2028lace", "Love lace"],
])("keeps %s in a value inside that value", (_, lastName, written) => {
  expect(properties({ firstName: "Ada", lastName })).toEqual([`FN:Ada ${written}`, `N:${written};Ada;;;`]);
});

test("lets no value that is written unescaped begin a line of its own", () => {
  const forged = "\r\nTEL:+1900";
  const lines = properties({
    firstName: "Ada",
    email: `a@b.example${forged}`,
    phone: `+1${forged}`,
    website: `https://a.example/${forged}`,
    socialLinks: [{ platform: `x${forged}`, url: `https://b.example/${forged}` }],
  });
  expect(lines.filter((line) => line.startsWith("TEL:"))).toEqual([]);
  expect(lines.filter((line) => line.includes("URL"))).toEqual([]);
});

test("leaves out links that a browser would not open as a web page", () => {
  const lines = properties({
    firstName: "Ada",
    website: "javascript:alert(1)",
    socialLinks: [{ platform: "github", url: "data:text/html,x" }],
  });
  expect(lines).toEqual(["FN:Ada", "N:;Ada;;;"]);
});

test("folds lines at 75 bytes and never inside a character", () => {
  const firstName = "Ünïcødé 🙂 名前 ".repeat(12).trim();
  const lines = text({ firstName }).split("\r\n");
  expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75);
  expect(text({ firstName })).not.toContain("\ufffd");
  expect(properties({ firstName })[0]).toBe(`FN:${firstName}`);
});

test.each([
  [{ firstName: "Ada", lastName: "Lovelace" }, 'attachment; filename="Ada-Lovelace.vcf"'],
  [{ firstName: "Ada" }, 'attachment; filename="Ada.vcf"'],
  [{ organization: 'A "B"/..\\C' }, 'attachment; filename="A-B-C.vcf"'],
  [
    { firstName: "Zoë", lastName: "Ångström" },
    `attachment; filename="Zoe-Angstrom.vcf"; filename*=UTF-8''Zo%C3%AB-%C3%85ngstr%C3%B6m.vcf`,
  ],
  [{ firstName: "太郎" }, `attachment; filename="contact.vcf"; filename*=UTF-8''%E5%A4%AA%E9%83%8E.vcf`],
  [{ firstName: "\r\n: x" }, 'attachment; filename="x.vcf"'],
  [{ firstName: "🙂" }, 'attachment; filename="contact.vcf"'],
])("names the file of %o for every client", (card, written) => {
  expect(disposition(card)).toBe(written);
});
