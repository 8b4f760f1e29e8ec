import type { DashboardConfig } from "../../../gen/signpost/v1/analytics_dashboard_pb.js";
import { type Fault, invalidArgument } from "../../lib/errors.ts";

/** The columns of new dashboards: a full widget takes 8, a half 4, a quarter 2. */
export const newGridColumns = 8;

/** The columns of dashboards that name no number. */
const oldGridColumns = 2;

/** Refuses widgets that do not end inside the grid's columns. A widget without a size takes one cell. */
export function gridFaults({ widgets, gridColumns }: DashboardConfig, place: string): Fault[] {
  const columns = gridColumns || oldGridColumns;
  return widgets.flatMap(({ position, size }, index): Fault[] => {
    const [x, w] = [position?.x ?? 0, size?.w ?? 1];
    const at = `${place}.widgets[${index}]`;
    if (x >= columns)
      return [
        invalidArgument(
          `${at}.position.x`,
          `must be at most ${columns - 1}: the grid has ${columns} columns`,
        ),
      ];
    if (x + w <= columns) return [];
    const advice = `must be at most ${columns - x} at this position: the grid has ${columns} columns`;
    return [invalidArgument(`${at}.size.w`, advice)];
  });
}

/** Refuses ids that two widgets have. */
export function idFaults({ widgets }: DashboardConfig, place: string): Fault[] {
  const seen = new Map<string, number>();
  return widgets.flatMap(({ id }, index): Fault[] => {
    const first = seen.get(id);
    if (id === "" || first === undefined) {
      seen.set(id, index);
      return [];
    }
    const advice = `must differ from the id of widgets[${first}]: leave it out, and the service makes one`;
    return [invalidArgument(`${place}.widgets[${index}].id`, advice)];
  });
}
