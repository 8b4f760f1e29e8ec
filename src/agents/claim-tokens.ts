import { createHmac, timingSafeEqual } from "node:crypto";

/** A registration, as the agent's secret names it. */
export interface NamedRegistration {
  readonly workspaceId: string;
  readonly registrationId: string;
}

/** A claim link of a registration. */
export interface NamedAttempt {
  readonly workspaceId: string;
  readonly attemptId: string;
}

/** Makes and reads the secrets of claims with the key for `agent-claims`. */
export interface ClaimTokens {
  /** The agent's secret, 117 characters: `<workspace id>.<registration id>.<secret>`. */
  claimToken(registration: NamedRegistration): string;
  readClaimToken(token: string): NamedRegistration | undefined;
  /** The secret of a claim link, of the same form. */
  attemptToken(attempt: NamedAttempt): string;
  readAttemptToken(token: string): NamedAttempt | undefined;
  /** The code that the agent shows beside the link: 6 digits. */
  userCode(attemptId: string): string;
  /** Whether somebody typed the code of an attempt. People type spaces and hyphens. */
  isUserCode(attemptId: string, typed: string): boolean;
}

const tokenForm = /^([0-9a-f-]{36})\.([0-9a-f-]{36})\.([\w-]{43})$/;

export function createClaimTokens(key: Uint8Array): ClaimTokens {
  const mac = (text: string) => createHmac("sha256", key).update(text);

  function write(kind: "claim" | "attempt", workspaceId: string, id: string): string {
    return `${workspaceId}.${id}.${mac(`${kind} ${workspaceId} ${id}`).digest("base64url")}`;
  }

  /** Reads what `write` made. A forged token is refused here. */
  function read(kind: "claim" | "attempt", token: string): [workspaceId: string, id: string] | undefined {
    const [, workspaceId, id] = tokenForm.exec(token) ?? [];
    if (workspaceId === undefined || id === undefined) return undefined;
    return isSame(token, write(kind, workspaceId, id)) ? [workspaceId, id] : undefined;
  }

  function userCode(attemptId: string): string {
    // 48 bits: the remainder prefers no code by more than one in 280 million.
    const number = mac(`code ${attemptId}`).digest().readUIntBE(0, 6) % 1_000_000;
    return String(number).padStart(6, "0");
  }

  return {
    claimToken: ({ workspaceId, registrationId }) => write("claim", workspaceId, registrationId),
    readClaimToken(token) {
      const [workspaceId, registrationId] = read("claim", token) ?? [];
      return workspaceId === undefined || registrationId === undefined
        ? undefined
        : { workspaceId, registrationId };
    },
    attemptToken: ({ workspaceId, attemptId }) => write("attempt", workspaceId, attemptId),
    readAttemptToken(token) {
      const [workspaceId, attemptId] = read("attempt", token) ?? [];
      return workspaceId === undefined || attemptId === undefined ? undefined : { workspaceId, attemptId };
    },
    userCode,
    isUserCode: (attemptId, typed) => isSame(typed.replaceAll(/[\s-]/g, ""), userCode(attemptId)),
  };
}

function isSame(given: string, wanted: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}
