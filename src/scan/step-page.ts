import { type PageTheme, pageTheme } from "../model/page-theme.ts";
import type { Plan, PlanStep } from "../model/plan.ts";
import type { Answer, Fault } from "../workflow/steps/step.ts";
import type { Language } from "./pages/languages.ts";
import type { Page } from "./pages/page.ts";
import { renderPreview } from "./pages/preview.ts";
import { renderStep } from "./pages/render-step.ts";
import type { PageAction } from "./pages/view.ts";

/** For whom a page is drawn. */
export interface StepPageOptions {
  readonly lbid: string;
  readonly language: Language;
  /** An answer that was refused, and what is wrong with it, by field id. */
  readonly entered?: Answer;
  readonly faults?: ReadonlyMap<string, Fault>;
}

/** The page of a step. Throws for steps that have none. */
export function stepPage(plan: Plan, step: PlanStep, options: StepPageOptions): Page {
  const { lbid, language, entered, faults = noFaults } = options;
  const path = stepPath(plan, step.id);
  return renderStep({
    step: withPage(step),
    linkName: plan.link.name,
    theme: themeOf(plan),
    media: {},
    language,
    action: `${path}?lbid=${lbid}`,
    cardUrl: `${path}/card.vcf?lbid=${lbid}`,
    entered,
    faults,
  });
}

/** What bots see instead of the page of an interaction. */
export function previewPage(plan: Plan, step: PlanStep, language: Language): Page {
  return renderPreview({
    step: withPage(step),
    linkName: plan.link.name,
    entrypoint: plan.entrypoint,
    language,
    theme: themeOf(plan),
    media: {},
  });
}

/** Where a step of a visit is shown and answered, without its query. */
export function stepPath({ shortlink }: Plan, stepId: string): string {
  return `/${shortlink}/s/${stepId}`;
}

const noFaults: ReadonlyMap<string, Fault> = new Map();

const themes = new WeakMap<Plan, PageTheme>();

function themeOf(plan: Plan): PageTheme {
  let theme = themes.get(plan);
  if (theme === undefined) {
    theme = pageTheme(plan.pageTheme);
    themes.set(plan, theme);
  }
  return theme;
}

type StepWithPage = Extract<PlanStep, { readonly action: PageAction }>;

const pageActions: Readonly<Record<PageAction, true>> = {
  PASSWORD_VERIFY: true,
  FORM_SUBMIT: true,
  MESSAGE_PAGE: true,
  MULTI_LINK: true,
  SOCIAL_LINKS_PAGE: true,
  CONTACT_CARD: true,
  THANK_YOU_PAGE: true,
};

function withPage(step: PlanStep): StepWithPage {
  if (!hasPage(step)) throw new Error(`a step of action ${step.action} has no page`);
  return step;
}

function hasPage(step: PlanStep): step is StepWithPage {
  return Object.hasOwn(pageActions, step.action);
}
