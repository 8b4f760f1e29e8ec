import { createHmac, timingSafeEqual } from "node:crypto";

/** Which code or refresh token of which grant a text is. */
export interface Handle {
  readonly workspaceId: string;
  readonly grantId: string;
  /** Of a refresh token: its place in the row of refresh tokens of the grant, from 1 on. Of a code: 0. */
  readonly number: number;
}

/** Writes and reads codes and refresh tokens. They are derived from the grant, so that the database holds no secret. */
export interface Handles {
  /** 91 characters `[A-Za-z0-9_-]`. */
  write(handle: Handle): string;
  /** Undefined for every text that was not written here. */
  read(text: string): Handle | undefined;
}

const idBytes = 16;
const bodyBytes = 2 * idBytes + 4;
const macBytes = 32;
const form = /^[\w-]{91}$/;

/** `key` is derived for the purpose `oauth-secrets`. */
export function createHandles(key: Uint8Array): Handles {
  const macOf = (body: Uint8Array) => createHmac("sha256", key).update("handle").update(body).digest();
  return {
    write({ workspaceId, grantId, number }) {
      const body = Buffer.alloc(bodyBytes);
      body.write(workspaceId.replaceAll("-", ""), 0, "hex");
      body.write(grantId.replaceAll("-", ""), idBytes, "hex");
      body.writeUInt32BE(number, 2 * idBytes);
      return Buffer.concat([body, macOf(body)]).toString("base64url");
    },
    read(text) {
      if (!form.test(text)) return undefined;
      const bytes = Buffer.from(text, "base64url");
      const body = bytes.subarray(0, bodyBytes);
      if (bytes.length !== bodyBytes + macBytes || !timingSafeEqual(bytes.subarray(bodyBytes), macOf(body)))
        return undefined;
      return {
        workspaceId: uuidOf(body.subarray(0, idBytes)),
        grantId: uuidOf(body.subarray(idBytes, 2 * idBytes)),
        number: body.readUInt32BE(2 * idBytes),
      };
    },
  };
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The secret of a registered program. It is derived from the program's id and is not stored. */
export function clientSecretOf(key: Uint8Array, clientId: string): string {
  return createHmac("sha256", key).update(`client ${clientId}`).digest("base64url");
}
