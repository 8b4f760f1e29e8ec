import type { JsonObject } from "@bufbuild/protobuf";

/** A call that the caller may confirm. It is made exactly as it was shown. */
export interface Offer {
  readonly tool: string;
  readonly title: string;
  /** The whole request. */
  readonly request: JsonObject;
}

/** The most offers below one answer. */
export const offersMax = 3;

/** The longest request that is offered, in characters: people read it before they confirm it. */
export const offeredMax = 2_000;

/** What ends the block of code in which an offer is shown, or is seen as something else than it is, or not at all. */
const unseen = /[`<\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Writes each character that a reader could miss as JSON does in letters. The value stays the same. */
function spelledOut(json: string): string {
  return json.replace(unseen, (character) =>
    character === "\n"
      ? character
      : [...Array(character.length).keys()]
          .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`)
          .join(""),
  );
}

/** The JSON of an offer, in the words that are shown, stored and run. It cannot end the block of code in which it is shown. */
export function shownRequest(request: JsonObject): string {
  return spelledOut(JSON.stringify(request, undefined, 1));
}

/** Tells the reader what each button below the answer does. The model has no part in this text. */
export function offersText(offers: readonly Offer[]): string {
  const shown = offers.map(
    ({ title, tool, request }, index) =>
      `${index + 1}. ${title} (${tool})\n\`\`\`json\n${shownRequest(request)}\n\`\`\``,
  );
  return `Not done yet. Each of these waits for your confirmation:\n\n${shown.join("\n\n")}`;
}

const labelMax = 120;

/** The button of an offer. */
export function labelOf({ title, request }: Offer, index: number): string {
  const fields = Object.entries(request).map(
    ([name, value]) => `${name}: ${spelledOut(JSON.stringify(value))}`,
  );
  const label = `${index + 1}. ${title} – ${fields.join(", ")}`;
  return label.length > labelMax ? `${label.slice(0, labelMax - 1)}…` : label;
}

/** The message that confirms an offer. */
export function confirmationOf(offerId: string): string {
  return `confirm ${offerId}`;
}

/** The offer that a message confirms. */
export function confirmedIn(message: string): string | undefined {
  return /^confirm ([\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})$/.exec(message)?.[1];
}
