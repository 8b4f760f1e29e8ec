import { readFileSync, statSync } from "node:fs";
import type { PlanTable } from "../model/plans/plan-table.ts";
import { readPlanTable } from "../model/plans/read-plan-table.ts";

const bytesMax = 64 * 1024;

/** Reads the plans: the defaults, changed by what the JSON file says. Adds a sentence for each wrong field. */
export function readPlansFile(file: string | undefined, inForce: boolean, problems: string[]): PlanTable {
  return readPlanTable(file === undefined ? undefined : contentOf(file, problems), inForce, problems);
}

function contentOf(file: string, problems: string[]): unknown {
  try {
    if (statSync(file).size > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes`);
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    problems.push(`PLANS_FILE: ${file} cannot be read: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}
