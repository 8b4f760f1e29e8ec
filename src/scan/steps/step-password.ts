import { createHash, timingSafeEqual } from "node:crypto";
import { unseal } from "../../lib/sealed.ts";
import type { PlanStepOf } from "../../model/workflow/plan.ts";

/**
 * Compares an attempt with the password of a step of a workspace, which is sealed for that step alone. The time it takes
 * tells neither how long the password is nor how much of it was right. A password that cannot be opened, because the
 * master secret is another one, is nobody's.
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
