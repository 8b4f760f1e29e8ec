import { createPrivateKey, createPublicKey, webcrypto } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, FlattenedSign } from "jose";
import type { Sign } from "./authority.ts";

export const keyAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Makes a pair of keys for ECDSA with the curve P-256. */
export function newKeyPair(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]);
}

/** A private key in PEM. */
export async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  const lines = der.toString("base64").replace(/.{1,64}/g, "$&\n");
  return `-----BEGIN PRIVATE KEY-----\n${lines}-----END PRIVATE KEY-----\n`;
}

/** What an account's key is used for. */
export interface AccountKey {
  /** Signs before the account has an address. */
  readonly signNew: Sign;
  /** Signs as the account with this address. */
  signAs(accountUrl: string): Sign;
  /** The answer to a challenge: its token and the key's thumbprint (RFC 8555, 8.1). */
  authorizationOf(token: string): string;
}

/** Reads an account's private key from PEM. */
export async function openAccountKey(pem: string): Promise<AccountKey> {
  const key = createPrivateKey(pem);
  const jwk = await exportJWK(createPublicKey(key));
  const thumbprint = await calculateJwkThumbprint(jwk);
  const signWith =
    (who: { readonly jwk: typeof jwk } | { readonly kid: string }): Sign =>
    ({ nonce, url }, payload) =>
      new FlattenedSign(payload).setProtectedHeader({ alg: "ES256", nonce, url, ...who }).sign(key);
  return {
    signNew: signWith({ jwk }),
    signAs: (accountUrl) => signWith({ kid: accountUrl }),
    authorizationOf: (token) => `${token}.${thumbprint}`,
  };
}
