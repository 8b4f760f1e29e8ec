import { hkdfSync } from "node:crypto";

/** The purpose of a derived key; a key of one purpose never reads what a key of another has signed or encrypted. */
export type KeyPurpose =
  | "access-tokens"
  | "agent-claims"
  | "certificates"
  | "devices"
  | "domain-ownership"
  | "file-urls"
  | "google-code-verifiers"
  | "idempotency-fingerprints"
  | "idempotency-outcomes"
  | "integration-tokens"
  | "member-challenges"
  | "member-sessions"
  | "oauth-secrets"
  | "oauth-signing-keys"
  | "oauth-states"
  | "sign-in-forms"
  | "step-passwords"
  | "visit-seals"
  | "webhook-secrets";

/** A key of 32 bytes for one purpose, derived from the master secret (RFC 5869, HKDF-SHA256). */
export function deriveKey(masterSecret: string, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync("sha256", masterSecret, "signpost", purpose, 32));
}
