import { shownName } from "../lib/clean-text.ts";
import { oauthFault } from "./oauth-fault.ts";
import { hostOfRedirect, redirectUriFault, redirectUrisMax } from "./redirect-uris.ts";

type Metadata = Readonly<Record<string, unknown>>;

/** The most characters of a program's name. */
const nameLengthMax = 100;

/** The redirect URIs of a program's metadata. Throws for URIs that nobody may be sent to. */
export function redirectUrisOf({ redirect_uris: given }: Metadata): string[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > redirectUrisMax)
    throw oauthFault("invalid_redirect_uri", `redirect_uris: must be a list of 1 to ${redirectUrisMax} URIs`);
  return given.map((uri: unknown, index) => {
    const fault = typeof uri === "string" ? redirectUriFault(uri) : "must be a text";
    if (typeof uri !== "string" || fault !== undefined)
      throw oauthFault("invalid_redirect_uri", `redirect_uris[${index}]: ${fault}`);
    return uri;
  });
}

/** The name of a program, as people are shown it. */
export function nameOf({ client_name: given }: Metadata, redirectUris: readonly string[]): string {
  if (given !== undefined && typeof given !== "string")
    throw oauthFault("invalid_client_metadata", "client_name: must be a text");
  const name = shownName((given ?? "").slice(0, 4 * nameLengthMax));
  if ([...name].length > nameLengthMax || (given ?? "").length > 4 * nameLengthMax)
    throw oauthFault("invalid_client_metadata", `client_name: may have ${nameLengthMax} characters at most`);
  if (name !== "") return name;
  const [first = ""] = redirectUris;
  return hostOfRedirect(first) ?? "localhost";
}
