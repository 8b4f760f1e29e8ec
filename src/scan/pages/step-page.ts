import { renderPreview } from "../../hosted/steps/preview.ts";
import { renderStep } from "../../hosted/steps/render-step.ts";
import { hasPage, type PageStep } from "../../hosted/view.ts";
import { pageTheme } from "../../model/look/page-theme.ts";
import type { Plan, PlanStep } from "../../model/workflow/plan.ts";
import type { Language } from "../../pages/languages.ts";
import type { HostedPage } from "../../pages/page.ts";
import type { Answer, Refused } from "../../workflow/steps/step.ts";

/** For whom a page is drawn. */
export interface StepPageOptions {
  /** The query of the step's address, which carries the visit's lbid and seal. */
  readonly query: string;
  readonly language: Language;
  /** An answer that was refused, and why. */
  readonly again?: { readonly entered: Answer; readonly refused: Refused };
}

/** The page of a step. Throws for steps that have none. */
export function stepPage(plan: Plan, step: PlanStep, options: StepPageOptions): HostedPage {
  const { query, language, again } = options;
  const path = stepPath(plan, step.id);
  return renderStep({
    step: withPage(step),
    linkName: plan.link.name,
    theme: pageTheme(plan.pageTheme),
    media: plan.media ?? {},
    language,
    brandUrl: plan.brandUrl,
    action: `${path}?${query}`,
    cardUrl: `${path}/card.vcf?${query}`,
    entered: again?.entered,
    faults: again?.refused.faults ?? new Map(),
    ...(again && { status: again.refused.status }),
  });
}

/** What bots see instead of the page of an interaction. */
export function previewPage(plan: Plan, step: PlanStep, language: Language): HostedPage {
  return renderPreview({
    step: withPage(step),
    linkName: plan.link.name,
    entrypoint: plan.entrypoint,
    language,
    theme: pageTheme(plan.pageTheme),
    media: plan.media ?? {},
  });
}

/** Where a step of a visit is shown and answered, without its query. */
export function stepPath({ shortlink }: Plan, stepId: string): string {
  return `/${shortlink}/s/${stepId}`;
}

function withPage(step: PlanStep): PageStep {
  if (!hasPage(step)) throw new Error(`a step of action ${step.action} has no page`);
  return step;
}
