import type { Model } from "../../assistant/model.ts";
import { writeText } from "../../assistant/write-text.ts";
import { plainSummary, type WriteSummary } from "./write-summary.ts";

/**
 * Writes summaries by rules, and has a model put them into better words where there is one. What the model writes with a number
 * of its own is dropped for what the rules wrote, and so is the text of a model that fails.
 */
export function summaryWriter(model: Model | undefined): WriteSummary {
  return async (numbers) => {
    const facts = plainSummary(numbers);
    if (model === undefined || numbers.rows.length === 0) return facts;
    const task = "You sum up the numbers of a chart about visits of short links for the people who own them.";
    return (await writeText(model, { task, facts })) ?? facts;
  };
}
