import { objectsOf, textOf } from "../json-fields.ts";
import { socialPlatforms } from "../links/platform.ts";
import { bare, hasUrl, ordered, placeElsewhere, type TitledPayload, titledOf } from "./reading.ts";
import { never, nothing, type StepFacts, unreadable } from "./step.ts";

export interface SocialLink {
  readonly id: string;
  /** Lower case, such as `instagram`; never empty. */
  readonly platform: string;
  readonly url: string;
  readonly order: number;
}

export interface SocialLinksPayload extends TitledPayload {
  readonly displayStyle: "DETAILED" | "COMPACT";
  readonly links: readonly SocialLink[];
}

/** SOCIAL_LINKS_PAGE: an exit with links to other places. */
export const socialLinksPage = {
  kind: "EXIT",
  nodeType: "ATOMIC",
  payload: "socialLinks",
  trace: "socialLinks",
  hasPage: true,
  answeredBy: "socialLink",
  offersChoice: false,
  traced: { list: "links", label: "platform", chosen: "selectedLink" },
  list: { name: "links", branch: undefined },
  urls: ["links[].url"],
  platforms: { list: "links", among: socialPlatforms },
  read: (stored): SocialLinksPayload => ({
    ...titledOf(stored),
    displayStyle:
      bare(stored.displayStyle, "SOCIAL_LINKS_DISPLAY_STYLE_") === "COMPACT" ? "COMPACT" : "DETAILED",
    links: ordered(objectsOf(stored.links))
      .filter(hasUrl)
      .map((link) => ({ id: textOf(link.id), ...placeElsewhere(link), order: link.order })),
  }),
  completed: "Social links shown",
  brokenBecause: unreadable,
  faultsOf: ({ links }) => (links.length === 0 ? ["the page has no links to show: add one with a URL"] : []),
  lookupsOf: nothing,
  skipsItself: never,
} as const satisfies StepFacts<SocialLinksPayload>;
