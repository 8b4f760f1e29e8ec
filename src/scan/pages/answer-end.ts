import type { ServerResponse } from "node:http";
import { visitorLanguage } from "../../hosted/languages.ts";
import type { Plan } from "../../model/workflow/plan.ts";
import type { End } from "../../workflow/walk-result.ts";
import { type Envelope, redirect, show, showNotice } from "./respond.ts";
import { lookOf, previewPage, stepPage } from "./step-page.ts";

/** How a visitor is answered. */
export interface EndOptions {
  readonly envelope: Envelope;
  /** Returns the visit whose page the visitor gets. Called only when the answer is a page. */
  readonly opened: () => Opened;
  /** Whether a bot is answered: it gets a preview of an interaction in place of its page. */
  readonly isPreview: boolean;
}

export interface Opened extends Pick<Envelope, "openVisit"> {
  /** What the address of the next step carries. */
  readonly query: string;
  /** Where the page reports what its browser knows of the device. Undefined when nothing of it may be kept. */
  readonly reportTo: string | undefined;
}

/** Answers with the page or the redirect at which a walk ended. */
export function answerEnd(res: ServerResponse, plan: Plan, end: End, options: EndOptions): void {
  const { envelope, opened, isPreview } = options;
  if (end.kind === "redirect" || end.kind === "fallback") {
    if (end.to === "") showNotice(res, "NOT_AVAILABLE", envelope, { look: lookOf(plan) });
    else redirect(res, end.to, envelope);
    return;
  }
  const language = visitorLanguage(res.req.headers["accept-language"]);
  if (isPreview) {
    show(res, previewPage(plan, end.step, language), envelope);
    return;
  }
  const { query, reportTo, openVisit } = opened();
  show(res, stepPage(plan, end.step, { query, language, reportTo, isFirst: true }), {
    ...envelope,
    openVisit,
  });
}
