import type { PageMedia } from "../model/look/page-image.ts";
import type { PageTheme } from "../model/look/page-theme.ts";
import { type PageAction, type Payloads, type StepAction, stepActions } from "../model/steps/kinds.ts";
import type { Language } from "../pages/languages.ts";
import type { Answer, AnswerFault } from "../workflow/steps/step.ts";

/** A step as its page needs it; a step of a plan fits. */
export type PageStep = {
  readonly [Action in PageAction]: { readonly action: Action; readonly payload: Payloads[Action] };
}[PageAction];

/** Whether a step shows people a page. */
export function hasPage<Step extends { readonly action: StepAction }>(
  step: Step,
): step is Extract<Step, { readonly action: PageAction }> {
  return stepActions[step.action].hasPage;
}

/** What a page is drawn for, beside its step. */
export interface Setting {
  /** What the link is called, for pages without a title of their own. */
  readonly linkName: string;
  readonly theme: PageTheme;
  readonly media: PageMedia;
  readonly language: Language;
  /** Where the line that names the service leads. Empty for pages without that line. */
  readonly brandUrl: string;
  /** Where answers are posted: `/<shortlink>/s/<stepId>?lbid=…&visit=…`. */
  readonly action: string;
  /** Where a contact card can be downloaded: `/<shortlink>/s/<stepId>/card.vcf?lbid=…&visit=…`. */
  readonly cardUrl: string;
  /** What was entered before, by field name. Undefined on a page that opens. */
  readonly entered: Answer | undefined;
  /** What is wrong with it, by field id. The fault of a password may have any key. */
  readonly faults: ReadonlyMap<string, AnswerFault>;
  /** The status of a page that is shown again. Without it, the faults decide. */
  readonly status?: 401 | 422;
}

/** The page of a step for one visitor. */
export interface StepView extends Setting {
  readonly step: PageStep;
}
