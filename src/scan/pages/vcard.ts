import VCard from "vcard-creator";
import { isWebAddress } from "../../hosted/web-address.ts";
import type { ContactCardPayload } from "../../model/steps/contact-card.ts";
import { platformOf } from "../../pages/icons.ts";

/** A contact card as a file. */
export interface CardFile {
  readonly body: Buffer;
  /** Names and values in turn: type and file name. */
  readonly headers: readonly string[];
}

/**
 * Makes a file for address books from a contact card: vCard 3.0, which all of them read. `revisedAt` is when the card
 * was last known to be right. The caller makes sure that there is a name.
 */
export function cardFile(payload: ContactCardPayload, revisedAt: Date): CardFile {
  const card = onLines(payload);
  const name = [card.firstName, card.lastName].filter(Boolean).join("-") || card.organization;
  return {
    body: Buffer.from(vcard(card, revisedAt).buildVCard()),
    headers: ["Content-Type", "text/vcard; charset=utf-8", "Content-Disposition", attachment(name)],
  };
}

// Some values, such as addresses, are not escaped. A line break in one of them would begin a property of its own.
function onLines(card: ContactCardPayload): ContactCardPayload {
  const clean = (text: string) =>
    text
      .toWellFormed()
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
      .trim();
  return {
    ...card,
    firstName: clean(card.firstName),
    lastName: clean(card.lastName),
    title: clean(card.title),
    organization: clean(card.organization),
    email: clean(card.email),
    phone: clean(card.phone),
    streetAddress: clean(card.streetAddress),
    city: clean(card.city),
    state: clean(card.state),
    postalCode: clean(card.postalCode),
    country: clean(card.country),
  };
}

function vcard(card: ContactCardPayload, revisedAt: Date): VCard {
  const { firstName, lastName, title, organization, email, phone, website } = card;
  const file = new VCard().addRevision(revisedAt);
  file.addFullName([firstName, lastName].filter(Boolean).join(" ") || organization);
  file.addName({ givenName: firstName, familyName: lastName });
  if (organization !== "") file.addCompany({ name: organization });
  if (title !== "") file.addJobtitle(title);
  if (phone !== "") file.addPhoneNumber({ number: phone, type: ["voice"] });
  if (email !== "") file.addEmail({ address: email, type: ["internet"] });
  addAddress(file, card);
  if (isWebAddress(website)) file.addUrl({ url: website });
  addLinks(file, card);
  return file;
}

function addAddress(file: VCard, card: ContactCardPayload): void {
  const { streetAddress: street, city: locality, state: region, postalCode, country } = card;
  if ([street, locality, region, postalCode, country].every((part) => part === "")) return;
  file.addAddress({ street, locality, region, postalCode, country, type: ["work"] });
}

/** Adds web addresses with a label, the one form that the address books of all makers keep. */
function addLinks(file: VCard, { phone, phoneIsWhatsapp, socialLinks }: ContactCardPayload): void {
  const whatsapp = { platform: "whatsapp", url: `https://wa.me/${phone.replace(/\D/g, "")}` };
  const links = [...(phoneIsWhatsapp && phone !== "" ? [whatsapp] : []), ...socialLinks];
  for (const [index, { platform, url }] of links.filter(({ url }) => isWebAddress(url)).entries()) {
    const group = `item${index + 1}`;
    file.addCustomProperty({ group, name: "URL", value: url });
    file.addCustomProperty({ group, name: "X-ABLabel", value: platformOf(platform, url).name });
  }
}

/**
 * The `Content-Disposition` of the file: the name in letters that every client reads, and as it is written for clients
 * that can read that (RFC 6266).
 */
function attachment(name: string): string {
  const written = name.replace(/[^\p{L}\p{M}\p{Nd}]+/gu, "-").replace(/^-|-$/g, "") || "contact";
  const plain = written
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  const fallback = `attachment; filename="${plain || "contact"}.vcf"`;
  return plain === written ? fallback : `${fallback}; filename*=UTF-8''${encodeURIComponent(written)}.vcf`;
}
