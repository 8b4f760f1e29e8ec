/** What the address of a form tells about it. Google's API knows a form by its id only. */
export interface FormAddress {
  /** The form's id, as the address of its editor has it. Undefined for addresses that do not contain it. */
  readonly formId?: string;
  /** The id under which the form is published: `/forms/d/e/…/viewform`. It cannot be turned into the form's id. */
  readonly publishedId?: string;
}

/** Google's ids of files, with room for longer ones than today's 44 characters. */
const idForm = /^[A-Za-z0-9_-]{10,200}$/;

/**
 * Recognizes the address of a Google form in any of its forms: published, shortened, of its editor, and with the number
 * of an account or the name of an organization. Undefined for every other address.
 */
export function readFormAddress(address: string): FormAddress | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, hostname, pathname } = new URL(address);
  if (protocol !== "https:" && protocol !== "http:") return undefined;
  const parts = pathname.split("/").filter((part) => part !== "");
  if (hostname === "forms.gle") return parts.length === 1 ? {} : undefined;
  if (hostname === "goo.gl") return parts[0] === "forms" && parts.length === 2 ? {} : undefined;
  if (hostname !== "docs.google.com") return undefined;
  const [first, ...rest] = withoutAccount(parts);
  if (first !== "forms") return undefined;
  const [d, id = "", publishedId = ""] = withoutAccount(rest);
  if (d !== "d") return undefined;
  if (id === "e") return idForm.test(publishedId) ? { publishedId } : undefined;
  return idForm.test(id) ? { formId: id } : undefined;
}

/** `/a/example.com/…` names an organization, `/u/1/…` one of a browser's accounts. */
function withoutAccount(parts: readonly string[]): readonly string[] {
  return parts[0] === "a" || parts[0] === "u" ? parts.slice(2) : parts;
}
