import type { CapturedAttribute } from "../model/workflow/attribute-capture.ts";
import type { Plan, PlanLink, PlanStep } from "../model/workflow/plan.ts";
import type { Visit } from "./visit.ts";
import type { SavedAttribute } from "./walk.ts";

/** At which moment a step saves: when it completes, at a tap, or at one that completes it. */
export type CaptureMoment = "completed" | "tapped" | "both";

/** Of every step that has nothing to save, so that a plain redirect makes no list. */
export const nothingSaved: readonly SavedAttribute[] = Object.freeze([]);

/** Whether this visit may leave anything with its visitor: not those of bots and agents, and not at level NONE. */
export function savesAttributes({ dataCollection, device }: Visit): boolean {
  if (dataCollection === "NONE") return false;
  const { deviceActor } = device();
  return deviceActor !== "BOT" && deviceActor !== "AGENT";
}

/** What attribute capture saves at a step; `choice` is what was tapped, empty for nothing. */
export function captured(
  { capture }: PlanStep,
  { link }: Plan,
  visit: Visit,
  moment: CaptureMoment,
  choice = "",
): readonly SavedAttribute[] {
  if (capture === undefined || !savesAttributes(visit)) return nothingSaved;
  const { attributes, setOnce } = capture;
  return attributes.flatMap((attribute) => {
    const isChoice = attribute.source === "CHOICE";
    if (moment === (isChoice ? "completed" : "tapped")) return [];
    const value = isChoice ? choice : pieceOf(attribute, link);
    return value === "" ? [] : [{ key: attribute.key, value, type: attribute.type, setOnce }];
  });
}

function pieceOf({ source, value }: CapturedAttribute, link: PlanLink): string {
  if (source === "MILESTONE") return value;
  if (value === "tags") return link.tags.join(", ");
  if (value === "name" || value === "shortlink") return link[value];
  const key = value.startsWith(metadataPrefix) ? value.slice(metadataPrefix.length) : "";
  return Object.hasOwn(link.metadata, key) ? (link.metadata[key] ?? "") : "";
}

const metadataPrefix = "metadata.";
