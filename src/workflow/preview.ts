import type { Visit } from "./visit.ts";
import type { Walk } from "./walk-result.ts";

/** Whether the visitor is a bot at an interaction. A bot sees a preview in place of the page. */
export function showsPreview({ end }: Walk, visit: Visit): boolean {
  return end.kind === "interaction" && visit.device().deviceActor === "BOT";
}

/** The walk of a visit that is shown a preview. The step at which it stops is not opened. */
export function beforeLast({ taken, end }: Walk): Walk {
  return { taken: taken.slice(0, -1), end };
}
