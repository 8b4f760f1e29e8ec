import { objectsOf, textOf } from "../json-fields.ts";
import { cardPlatforms } from "../links/platform.ts";
import { hasUrl, placeElsewhere } from "./reading.ts";
import { never, nothing, type StepFacts } from "./step.ts";

/** At least one of the names is not empty, because no card can be made without a name. */
export interface ContactCardPayload {
  readonly firstName: string;
  readonly lastName: string;
  readonly title: string;
  readonly organization: string;
  readonly email: string;
  readonly phone: string;
  readonly phoneIsWhatsapp: boolean;
  readonly website: string;
  readonly streetAddress: string;
  readonly city: string;
  readonly state: string;
  readonly postalCode: string;
  readonly country: string;
  readonly socialLinks: readonly { readonly platform: string; readonly url: string }[];
  /** Empty for the default words, in the visitor's language. */
  readonly buttonLabel: string;
}

/** CONTACT_CARD: an exit with a card that visitors can look at and save. */
export const contactCard = {
  kind: "EXIT",
  nodeType: "ATOMIC",
  payload: "vcard",
  trace: "contactCard",
  hasPage: true,
  answeredBy: "proceed",
  offersChoice: false,
  traced: undefined,
  list: undefined,
  urls: ["website", "socialLinks[].url"],
  platforms: { list: "socialLinks", among: cardPlatforms },
  read(stored): ContactCardPayload | undefined {
    const firstName = textOf(stored.firstName);
    const lastName = textOf(stored.lastName);
    if (firstName === "" && lastName === "") return undefined;
    return {
      firstName,
      lastName,
      title: textOf(stored.title),
      organization: textOf(stored.organization),
      email: textOf(stored.email),
      phone: textOf(stored.phone),
      phoneIsWhatsapp: stored.phoneIsWhatsapp === true,
      website: textOf(stored.website),
      streetAddress: textOf(stored.streetAddress),
      city: textOf(stored.city),
      state: textOf(stored.state),
      postalCode: textOf(stored.postalCode),
      country: textOf(stored.country),
      socialLinks: objectsOf(stored.socialLinks).filter(hasUrl).map(placeElsewhere),
      buttonLabel: textOf(stored.buttonLabel),
    };
  },
  completed: "Contact card shown",
  brokenBecause: "the contact card has no name: give it one",
  faultsOf: nothing,
  lookupsOf: nothing,
  skipsItself: never,
} as const satisfies StepFacts<ContactCardPayload>;
