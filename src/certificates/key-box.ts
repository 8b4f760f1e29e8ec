import { seal, unseal } from "../lib/sealed.ts";

/** Encrypts private keys for the database. */
export interface KeyBox {
  /** `owner` is the name or the directory whose row the key stands in. The key cannot be opened for another one. */
  seal(pem: string, owner: string): Buffer;
  /** Throws when the key was damaged, or sealed for another row or with another master secret. */
  open(sealed: Uint8Array, owner: string): string;
}

/** `key` is derived for the purpose `certificates`. */
export function createKeyBox(key: Uint8Array): KeyBox {
  return {
    seal: (pem, owner) => seal(Buffer.from(pem), key, owner),
    open: (sealed, owner) => unseal(sealed, key, owner).toString(),
  };
}
