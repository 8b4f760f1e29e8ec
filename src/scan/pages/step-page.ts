import type { Look } from "../../hosted/notice.ts";
import type { PreviewFacts } from "../../hosted/preview-tags.ts";
import { renderPreview } from "../../hosted/steps/preview.ts";
import { renderStep } from "../../hosted/steps/render-step.ts";
import { hasPage, type PageStep } from "../../hosted/view.ts";
import { builtInTheme, pageTheme } from "../../model/look/page-theme.ts";
import type { Plan, PlanStep } from "../../model/workflow/plan.ts";
import type { Language } from "../../pages/languages.ts";
import type { HostedPage } from "../../pages/page.ts";
import type { Answer, Refused } from "../../workflow/steps/step.ts";
import { cardAddress } from "./link-cards.ts";

/** For whom a page is drawn. */
export interface StepPageOptions {
  /** The query of the step's address, which carries the visit's lbid and seal. */
  readonly query: string;
  readonly language: Language;
  /** Where the page reports what its browser knows of the device. */
  readonly reportTo?: string | undefined;
  /** Whether the page is at the address of the link itself, which chats draw previews of. */
  readonly isFirst?: boolean;
  /** An answer that was refused, and why. */
  readonly again?: { readonly entered: Answer; readonly refused: Refused };
}

/** The page of a step. Throws for steps that have none. */
export function stepPage(plan: Plan, step: PlanStep, options: StepPageOptions): HostedPage {
  const { query, language, again, reportTo, isFirst = false } = options;
  const path = stepPath(plan, step.id);
  return renderStep({
    step: withPage(step),
    linkName: plan.link.name,
    ...(lookOf(plan) ?? builtInLook),
    language,
    brandUrl: plan.brandUrl,
    action: `${path}?${query}`,
    reportTo,
    preview: isFirst ? previewFacts(plan) : undefined,
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
    ...previewFacts(plan),
    language,
    ...(lookOf(plan) ?? builtInLook),
  });
}

const builtInLook: Look = { theme: builtInTheme, media: {} };

/** What the pages of a link look like. Undefined for a link without a theme. */
export function lookOf({ pageTheme: stored, media = {} }: Plan): Look | undefined {
  return stored === null ? undefined : { theme: pageTheme(stored), media };
}

function previewFacts(plan: Plan): PreviewFacts {
  return { entrypoint: plan.entrypoint, cardAddress: cardAddress(plan) };
}

/** Where a step of a visit is shown and answered, without its query. */
export function stepPath({ shortlink }: Plan, stepId: string): string {
  return `/${shortlink}/s/${stepId}`;
}

function withPage(step: PlanStep): PageStep {
  if (!hasPage(step)) throw new Error(`a step of action ${step.action} has no page`);
  return step;
}
