import { createHash, timingSafeEqual } from "node:crypto";
import { unseal } from "../../lib/sealed.ts";
import type { PlanStepOf } from "../../model/workflow/plan.ts";

/**
 * Compares an attempt with the password of a step, which is sealed for that step of its workspace alone. The time it
 * takes tells neither how long the password is nor how much of the attempt was right. A password that was sealed under
 * another master secret cannot be opened, and then no attempt is right.
 */
export function isStepPassword(
  { id, payload }: PlanStepOf<"PASSWORD_VERIFY">,
  attempt: string,
  { workspaceId, key }: { readonly workspaceId: string; readonly key: Uint8Array },
): boolean {
  let password: Buffer;
  try {
    password = unseal(Buffer.from(payload.password, "base64"), key, `${workspaceId}/${id}`);
  } catch {
    return false;
  }
  return timingSafeEqual(digest(password), digest(attempt));
}

function digest(text: string | Buffer): Buffer {
  return createHash("sha256").update(text).digest();
}
