import type { Model } from "../../../src/assistant/model.ts";

/**
 * A model without a mind: it says how many characters it was told, and uses no tool. The same question has the same answer. Where
 * it has no tools it says nothing, so that summaries are those of the rules.
 */
export const plainModel: Model = {
  async reply({ said, tools }, { onText }) {
    if (tools.length === 0) return { text: "", calls: [], isCut: false };
    const last = said.at(-1);
    const text = `You wrote ${last?.by === "user" ? last.text.length : 0} characters.`;
    onText?.(text);
    return { text, calls: [], isCut: false };
  },
};
