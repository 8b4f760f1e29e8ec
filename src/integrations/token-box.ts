import { seal, unseal } from "../lib/sealed.ts";
import type { IntegrationKind } from "./kinds.ts";

/** The row that a sealed token stands in. The token cannot be opened for another one. */
export interface TokenPlace {
  readonly kind: IntegrationKind;
  readonly workspaceId: string;
  readonly integrationId: string;
}

/** Encrypts the tokens that others gave this service, for the database. */
export interface TokenBox {
  seal(token: string, place: TokenPlace): Buffer;
  /** Throws when the token was damaged, or sealed for another place or with another master secret. */
  open(sealed: Uint8Array, place: TokenPlace): string;
}

/** `key` is derived for the purpose `integration-tokens`. */
export function createTokenBox(key: Uint8Array): TokenBox {
  return {
    seal: (token, place) => seal(Buffer.from(token), key, boundTo(place)),
    open: (sealed, place) => unseal(sealed, key, boundTo(place)).toString(),
  };
}

function boundTo({ kind, workspaceId, integrationId }: TokenPlace): string {
  return `${kind}/${workspaceId}/${integrationId}`;
}
