import type { Model } from "../../../src/assistant/model.ts";

/** A model without a mind: it says how many characters it was told, and uses no tool. The same question has the same answer. */
export const plainModel: Model = {
  async reply({ said }, { onText }) {
    const last = said.at(-1);
    const text = `You wrote ${last?.by === "user" ? last.text.length : 0} characters.`;
    onText?.(text);
    return { text, calls: [], isCut: false };
  },
};
