import { stepActions } from "../../../src/model/steps/kinds.ts";
import { byBytes, type Naive, percent, visitsIn } from "./naive-visits.ts";
import type { WorldVisit } from "./world.ts";

export const funnel: Naive = (world, asked) => {
  const visits = visitsIn(world, asked).map((visit) => {
    return { ...visit, steps: visit.steps.filter(({ isFallback }) => !isFallback) };
  });
  const reach = (action: string) =>
    visits.filter(({ steps }) => steps.some((step) => step.action === action));
  const ranks: Readonly<Record<string, number>> = { ENTRY: 0, EXIT: 2 };
  const placeOf = (action: string) => {
    const places = reach(action).map(({ steps }) => steps.findIndex((step) => step.action === action));
    return places.reduce((sum, place) => sum + place, 0) / places.length;
  };
  const actions = [...new Set(visits.flatMap(({ steps }) => steps.map(({ action }) => action)))];
  const rankOf = (action: (typeof actions)[number]) => ranks[stepActions[action].kind] ?? 1;
  actions.sort((a, b) => rankOf(a) - rankOf(b) || placeOf(a) - placeOf(b) || byBytes(a, b));
  const steps = actions.map((action, index) => {
    const here = reach(action);
    const previous = index === 0 ? [] : reach(actions[index - 1] ?? "");
    const own = (visit: WorldVisit) => visit.steps.filter((step) => step.action === action);
    const done = here.filter((visit) => own(visit).some(({ isDone }) => isDone));
    const labels = [...new Set(here.flatMap((visit) => own(visit).flatMap(({ offered }) => offered)))];
    const branches = labels
      .map((label) => ({
        label,
        count: here.filter((visit) => own(visit).some(({ chosen }) => chosen === label)).length,
      }))
      .sort((a, b) => b.count - a.count || byBytes(a.label, b.label));
    return {
      stepAction: `EVENT_ACTION_${action}`,
      stepKind: `KIND_${stepActions[action].kind}`,
      visits: String(here.length),
      occurrences: String(here.reduce((sum, visit) => sum + own(visit).length, 0)),
      identifiedVisitors: String(here.filter(({ visitor }) => visitor?.email !== undefined).length),
      conversionRate: percent(here.length, visits.length),
      dropOffFromPrevious: String(previous.filter((visit) => !here.includes(visit)).length),
      interactions: String(done.length),
      interactionRate: percent(done.length, here.length),
      branches: branches.map(({ label, count }) => {
        return { label, visits: String(count), shareOfStep: percent(count, here.length) };
      }),
    };
  });
  const completed = visits.filter(({ outcome }) => outcome === "COMPLETED").length;
  return { entryVisits: String(visits.length), completionRate: percent(completed, visits.length), steps };
};
