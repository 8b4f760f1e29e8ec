import type { Plan } from "../../model/workflow/plan.ts";
import type { Visit } from "../../workflow/visit.ts";
import type { Walk } from "../../workflow/walk-result.ts";
import { cookieHashOf } from "../device/device-keys.ts";
import type { SeenVisit } from "../spool/record-format.ts";
import { askedOf } from "../visit/asked.ts";
import type { VisitState } from "../visit/state.ts";
import { toldByCookie } from "./find-visitor.ts";

/** Where a visit stands whose first request ends at a page. */
export function beginningOf(
  plan: Plan,
  { id, level, cookie, cookieWasSent, query }: SeenVisit,
  { visitType }: Visit,
  { taken, end }: Walk,
  deviceKey: string,
): VisitState {
  const atMs = id.readUIntBE(0, 6);
  const isTypeKnown = plan.needs.visitType || level === "NONE";
  return {
    answers: 0,
    outcome: end.kind === "interaction" ? "IN_PROGRESS" : "COMPLETED",
    stepId: end.kind === "interaction" || end.kind === "exit-page" ? end.step.id : "",
    destination: "",
    activeAtMs: atMs,
    openedAtMs: atMs,
    level,
    visitType: isTypeKnown ? visitType : toldByCookie(cookieWasSent).visitType,
    isTypeKnown,
    cookieHash: cookie === "" ? "" : cookieHashOf(plan.workspaceId, cookie, deviceKey),
    query,
    saved: askedOf(
      plan,
      taken.flatMap(({ saved }) => saved),
    ),
  };
}
