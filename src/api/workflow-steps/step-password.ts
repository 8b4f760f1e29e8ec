import type { JsonObject } from "@bufbuild/protobuf";
import { seal, unseal } from "../../lib/sealed.ts";
import type { StepAction } from "../../model/steps/kinds.ts";

/** The key that seals a password, and the place that it is sealed for. */
export interface PasswordSeal {
  readonly key: Uint8Array;
  readonly workspaceId: string;
  readonly stepId: string;
}

/**
 * The payload of a step as it is stored, with its password sealed, in base64. A password that equals the stored one
 * keeps its sealed text, because sealing the same text twice gives two results.
 */
export function sealPassword(
  action: StepAction,
  payload: JsonObject,
  stored: JsonObject | undefined,
  owner: PasswordSeal,
): JsonObject {
  const { password } = payload;
  if (action !== "PASSWORD_VERIFY" || typeof password !== "string" || password === "") return payload;
  if (stored !== undefined && openPassword(stored, owner) === password)
    return { ...payload, password: stored.password ?? "" };
  return { ...payload, password: seal(Buffer.from(password), owner.key, boundTo(owner)).toString("base64") };
}

/**
 * The password of a stored payload, in clear. Empty when there is none, or when it was sealed with a key that is lost.
 */
export function openPassword({ password }: JsonObject, owner: PasswordSeal): string {
  if (typeof password !== "string" || password === "") return "";
  try {
    return unseal(Buffer.from(password, "base64"), owner.key, boundTo(owner)).toString();
  } catch {
    return "";
  }
}

function boundTo({ workspaceId, stepId }: PasswordSeal): string {
  return `${workspaceId}/${stepId}`;
}
