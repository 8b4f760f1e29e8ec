import { clipBytes } from "../lib/clean-text.ts";
import { capturedBytesMax, type Template, type TemplatePiece } from "../model/workflow/attribute-capture.ts";
import type { Plan, PlanStep } from "../model/workflow/plan.ts";
import type { Visit } from "./visit.ts";
import type { SavedAttribute } from "./walk-result.ts";

/** The pressed button of a multi-link page. */
export interface PressedButton {
  readonly id: string;
  readonly label: string;
}

/** What every step without captures saves. It is one list, so that a plain redirect makes none. */
export const nothingSaved: readonly SavedAttribute[] = Object.freeze([]);

/**
 * Whether this visit may save anything to its visitor. Visits of bots and agents, and visits at level NONE, save
 * nothing.
 */
export function savesAttributes({ dataCollection, device }: Visit): boolean {
  if (dataCollection === "NONE") return false;
  const { deviceActor } = device();
  return deviceActor !== "BOT" && deviceActor !== "AGENT";
}

/** What attribute capture saves at a step that completes. `choice` is the button that was pressed to complete it. */
export function captured(
  { capture }: PlanStep,
  plan: Plan,
  visit: Visit,
  now: Date,
  choice?: PressedButton,
): readonly SavedAttribute[] {
  if (capture === undefined || !savesAttributes(visit)) return nothingSaved;
  return capture.flatMap(({ key, value: template, type, setOnce }) => {
    const value = filled(template, (piece) => textFor(piece, plan, now, choice));
    return value === "" ? [] : [{ key, value, type, setOnce }];
  });
}

/** Joins the pieces of a template until there is no more room. */
function filled(template: Template, textOf: (piece: TemplatePiece) => string): string {
  let text = "";
  for (const piece of template) {
    text += textOf(piece);
    // A character has at least one byte.
    if (text.length > capturedBytesMax) break;
  }
  return clipBytes(text, capturedBytesMax);
}

function textFor(piece: TemplatePiece, { link }: Plan, now: Date, choice: PressedButton | undefined): string {
  switch (piece.kind) {
    case "text":
      return piece.text;
    case "now":
      return now.toISOString();
    case "link.name":
      return link.name;
    case "link.metadata":
      return Object.hasOwn(link.metadata, piece.key) ? (link.metadata[piece.key] ?? "") : "";
    case "choice.label":
      return choice?.label ?? "";
    case "choice.id":
      return choice?.id ?? "";
  }
}
