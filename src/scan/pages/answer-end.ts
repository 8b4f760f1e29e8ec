import type { ServerResponse } from "node:http";
import type { Plan } from "../../model/workflow/plan.ts";
import type { End } from "../../workflow/walk-result.ts";
import { pickLanguage } from "./languages.ts";
import { type Envelope, redirect, show, showNotice } from "./respond.ts";
import { previewPage, stepPage } from "./step-page.ts";

/** Who is answered, and how. */
export interface EndOptions {
  readonly envelope: Envelope;
  /** The visit, for what the visitor does next. */
  readonly lbid: string;
  /** Whether a bot is answered: it gets a preview of an interaction in place of its page. */
  readonly isPreview: boolean;
}

/** Answers with what stands where a walk ended. */
export function answerEnd(res: ServerResponse, plan: Plan, end: End, options: EndOptions): void {
  const { envelope, lbid, isPreview } = options;
  if (end.kind === "redirect" || end.kind === "fallback") {
    if (end.to === "") showNotice(res, "NOT_AVAILABLE", envelope);
    else redirect(res, end.to, envelope);
    return;
  }
  const language = pickLanguage(res.req.headers["accept-language"]);
  const page = isPreview
    ? previewPage(plan, end.step, language)
    : stepPage(plan, end.step, { lbid, language });
  show(res, page, envelope);
}
