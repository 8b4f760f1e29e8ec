import { lruCache } from "../lib/lru-cache.ts";
import { asObject } from "../model/json-fields.ts";
import { nameOf, redirectUrisOf } from "./client-fields.ts";
import type { Client } from "./clients.ts";
import { oauthFault } from "./oauth-fault.ts";

/** Fetches a document, by the rules for addresses that customers give. Undefined when there is none of at most `bytesMax`. */
export type FetchDocument = (address: string, bytesMax: number) => Promise<string | undefined>;

export interface ClientDocumentsDeps {
  readonly fetchDocument: FetchDocument;
  readonly now: () => Date;
}

/** Reads the documents in which programs describe themselves (Client ID Metadata Documents). */
export interface ClientDocuments {
  /**
   * The program whose id is the address of its document. `mayFetch` is asked before the document is fetched. Throws
   * `invalid_client` when there is no such document, or when it describes another program.
   */
  read(clientId: string, mayFetch: () => Promise<void>): Promise<Client>;
}

const addressLengthMax = 1_024;
const documentBytesMax = 64 * 1024;
/** How long a document is kept; the specification allows 24 hours. */
const keptMs = 60 * 60 * 1000;
/** What all kept programs of this process take, in characters. */
const keptMax = 1024 * 1024;

/** Whether an id is the address of a document. */
export function isDocumentAddress(clientId: string): boolean {
  return clientId.startsWith("https://");
}

export function createClientDocuments({ fetchDocument, now }: ClientDocumentsDeps): ClientDocuments {
  const kept = lruCache<{ readonly client: Client; readonly until: number }>(keptMax, ({ client }) =>
    Math.max(1, JSON.stringify(client).length * 2),
  );

  return {
    async read(clientId, mayFetch) {
      const known = kept.get(clientId);
      if (known !== undefined && known.until > now().getTime()) return known.client;
      checkAddress(clientId);
      await mayFetch();
      const text = await fetchDocument(clientId, documentBytesMax);
      if (text === undefined) throw broken("cannot be read, or is longer than 64 KB");
      const client = describedBy(text, clientId);
      kept.set(clientId, { client, until: now().getTime() + keptMs });
      return client;
    },
  };
}

function checkAddress(clientId: string): void {
  if (clientId.length > addressLengthMax || !URL.canParse(clientId)) throw broken("has no address");
  const { href, pathname, hash, username, password } = new URL(clientId);
  if (href !== clientId || pathname === "/" || hash !== "" || username !== "" || password !== "")
    throw broken(
      "must have an address with a path, without fragment, user name and dots as parts of its path",
    );
}

function describedBy(text: string, clientId: string): Client {
  const document = asObject(parsed(text));
  if (document === undefined) throw broken("is no JSON object");
  if (document.client_id !== clientId) throw broken("has another client_id");
  const { token_endpoint_auth_method: method = "none" } = document;
  if (method !== "none" || document.client_secret !== undefined)
    throw broken("must have the token_endpoint_auth_method none");
  const redirectUris = redirectUrisOf(document);
  return { id: clientId, name: nameOf(document, redirectUris), redirectUris, authMethod: "none" };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function broken(what: string) {
  return oauthFault("invalid_client", `the document of the program ${what}`);
}
