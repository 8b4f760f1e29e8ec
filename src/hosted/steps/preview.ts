import type { PageMedia } from "../../model/look/page-image.ts";
import type { PageTheme } from "../../model/look/page-theme.ts";
import type { Language } from "../../pages/languages.ts";
import { type HostedPage, makePage } from "../../pages/page.ts";
import { aboutOf, type PreviewFacts, previewTags } from "../preview-tags.ts";
import type { PageStep } from "../view.ts";
import { heading } from "./heading.ts";

export interface PreviewView extends PreviewFacts {
  /** The step whose page people would meet. */
  readonly step: PageStep;
  readonly linkName: string;
  readonly language: Language;
  readonly theme: PageTheme;
  readonly media: PageMedia;
}

/** What crawlers and the link previews of chats see in place of an interaction: what it is about, and never a form. */
export function renderPreview(view: PreviewView): HostedPage {
  const { step, linkName, language, theme, media } = view;
  const { title, description } = aboutOf(step);
  const shownTitle = title || linkName;
  return makePage({
    status: 200,
    language,
    theme,
    media,
    title: shownTitle,
    head: previewTags({ title: shownTitle, description }, view, media),
    content: heading({ title, description }, linkName),
  });
}
