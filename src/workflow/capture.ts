import { capturedBytesMax, type Template, type TemplatePiece } from "../model/workflow/attribute-capture.ts";
import type { Plan, PlanStep } from "../model/workflow/plan.ts";
import type { Visit } from "./visit.ts";
import type { SavedAttribute } from "./walk.ts";

/** The button that was pressed on a multi-link page. */
export interface PressedButton {
  readonly id: string;
  readonly label: string;
}

/** Of every step that has nothing to save, so that a plain redirect makes no list. */
export const nothingSaved: readonly SavedAttribute[] = Object.freeze([]);

/** Whether this visit may leave anything with its visitor: not those of bots and agents, and not at level NONE. */
export function savesAttributes({ dataCollection, device }: Visit): boolean {
  if (dataCollection === "NONE") return false;
  const { deviceActor } = device();
  return deviceActor !== "BOT" && deviceActor !== "AGENT";
}

/** What attribute capture saves at a step that completes; `choice` is what was tapped to complete it. */
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

/** Joins no more pieces than there is room for. */
function filled(template: Template, textOf: (piece: TemplatePiece) => string): string {
  let text = "";
  for (const piece of template) {
    text += textOf(piece);
    // A character has a byte at least.
    if (text.length > capturedBytesMax) break;
  }
  return clipped(text);
}

/** As much as there is room for, without the part of a character. */
function clipped(text: string): string {
  // No character has more than three bytes for each of its units.
  if (text.length * 3 <= capturedBytesMax) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(capturedBytesMax));
  return text.slice(0, read);
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
