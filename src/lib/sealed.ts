import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts with AES-256-GCM (NIST SP 800-38D): nonce, tag, text. `bound` is what the secret belongs to, such as the ids of
 * its row; it is not kept, and the secret cannot be opened for anything else.
 */
export function seal(plain: Uint8Array, key: Uint8Array, bound: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(bound));
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

/** Decrypts what `seal` made. Throws when it is damaged, or of another key, or bound to something else. */
export function unseal(sealed: Uint8Array, key: Uint8Array, bound: string): Buffer {
  const nonce = sealed.subarray(0, nonceBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(bound));
  decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]);
}
