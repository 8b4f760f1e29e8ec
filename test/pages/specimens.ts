import type { PageStep, StepView } from "../../src/hosted/view.ts";
import { builtInTheme } from "../../src/model/look/page-theme.ts";
import type { ContactCardPayload } from "../../src/model/steps/contact-card.ts";
import type { FormField, FormFieldType, FormPayload } from "../../src/model/steps/form-submit.ts";
import type { PageAction } from "../../src/model/steps/kinds.ts";
import { formFieldName } from "../../src/workflow/answer-fields.ts";
import type { AnswerFault } from "../../src/workflow/steps/step.ts";

const inOut = [
  { label: "Inside", value: "in" },
  { label: "On the terrace", value: "out" },
];
const occasions = [
  { label: "Birthday", value: "birthday" },
  { label: "Business", value: "business" },
];

/** Typical steps: one of each kind, and one of each different look. */
export const steps = {
  password: {
    action: "PASSWORD_VERIFY",
    payload: {
      title: "Members’ area",
      description: "Enter the word that stands on your invitation.",
      password: "",
    },
  },
  form: { action: "FORM_SUBMIT", payload: form() },
  message: {
    action: "MESSAGE_PAGE",
    payload: {
      title: "Welcome to the museum",
      description: "The guide has twelve stops and takes about an hour.\nHeadphones are at the desk.",
      navigationType: "BUTTON",
      buttonLabel: "Start the tour",
      timerSeconds: 0,
    },
  },
  timer: {
    action: "MESSAGE_PAGE",
    payload: {
      title: "One moment, please",
      description: "We are taking you to the menu.",
      navigationType: "TIMER",
      buttonLabel: "",
      timerSeconds: 8,
    },
  },
  multiLink: {
    action: "MULTI_LINK",
    payload: {
      title: "Trattoria Verde",
      description: "Via Roma 12 · open every day until midnight",
      buttons: ["Menu", "Book a table", "Opening hours", "How to find us"].map((label, order) => ({
        id: `button-${order}`,
        label,
        order,
      })),
    },
  },
  socialLinks: socialLinks("DETAILED"),
  compactLinks: socialLinks("COMPACT"),
  contactCard: { action: "CONTACT_CARD", payload: card() },
  thankYou: {
    action: "THANK_YOU_PAGE",
    payload: { title: "Thank you!", description: "Your answer has arrived. We will be in touch." },
  },
} as const satisfies Record<string, PageStep>;

function socialLinks(displayStyle: "DETAILED" | "COMPACT") {
  const platforms = [
    "instagram",
    "tiktok",
    "twitter",
    "facebook",
    "website",
    "youtube",
    "linkedin",
    "github",
    "whatsapp",
  ];
  return {
    action: "SOCIAL_LINKS_PAGE",
    payload: {
      title: "Ada Lovelace",
      description: "Notes on engines",
      displayStyle,
      links: platforms.map((platform, index) => ({
        id: `link-${index}`,
        platform,
        url: `https://www.${platform}.example/ada`,
        order: index + 1,
      })),
    },
  } as const;
}

function card(): ContactCardPayload {
  return {
    firstName: "Ada",
    lastName: "Lovelace",
    title: "Analyst",
    organization: "Analytical Engines Ltd",
    email: "ada@engines.example",
    phone: "+442071234567",
    phoneIsWhatsapp: true,
    website: "https://www.engines.example/ada",
    streetAddress: "12 St James’s Square",
    city: "London",
    state: "",
    postalCode: "SW1Y 4JH",
    country: "United Kingdom",
    socialLinks: ["linkedin", "github", "telegram", "calendly"].map((platform) => ({
      platform,
      url: `https://${platform}.example/ada`,
    })),
    buttonLabel: "",
  };
}

/** A form with a field of every type. */
function form(): FormPayload {
  const options = ["Vegetarian", "Vegan", "No nuts"].map((label) => ({ label, value: label.toLowerCase() }));
  const fields: readonly Partial<FormField>[] = [
    { key: "$firstName", type: "TEXT", label: "First name", required: true },
    { key: "$email", type: "EMAIL", label: "E-mail", required: true, placeholder: "name@example.com" },
    { key: "$phone", type: "PHONE", label: "Phone", helpText: "Only if the table is not ready." },
    { key: "seating", type: "RADIO", label: "Where would you like to sit?", required: true, options: inOut },
    { key: "diet", type: "CHECKBOX", label: "What should the kitchen know?", options, defaultValue: "vegan" },
    { key: "occasion", type: "DROPDOWN", label: "Occasion", options: occasions },
    { key: "guests", type: "NUMBER", label: "Guests", required: true, defaultValue: "2" },
    { key: "day", type: "DATE", label: "Day", required: true },
    { key: "rating", type: "RATING", label: "How was your last visit?", defaultValue: "4" },
    { key: "wishes", type: "TEXTAREA", label: "Anything else?", placeholder: "A table by the window…" },
  ];
  return {
    title: "Book a table",
    description: "We answer within the hour.",
    fields: fields.map((field, index) => newField(`id ${index}`, field)),
    submitButtonText: "",
    skipForm: true,
    skipButtonText: "",
    autoSkipIfKnown: false,
  };
}

export function newField(id: string, field: Partial<FormField>): FormField {
  return {
    id,
    key: "key",
    label: "",
    type: "TEXT" satisfies FormFieldType,
    required: false,
    order: 0,
    options: [],
    defaultValue: "",
    placeholder: "",
    helpText: "",
    validationPattern: "",
    ...field,
  };
}

/** A page as a visitor opens it, in English and the built-in look, with the given differences. It names the service. */
export function newView<Step extends { readonly action: PageAction }>(
  step: PageStep & Step,
  view: Partial<StepView> = {},
): StepView {
  return {
    step,
    linkName: "Summer campaign",
    theme: builtInTheme,
    media: {},
    language: "en",
    brandUrl: "https://signpost.example",
    action: "/4BnH-R19p/s/0192a1b2-0000-7000-8000-000000000001?lbid=AZKhsgAAcACAAAAAAAAAAQ",
    cardUrl: "/4BnH-R19p/s/0192a1b2-0000-7000-8000-000000000001/card.vcf?lbid=AZKhsgAAcACAAAAAAAAAAQ",
    entered: undefined,
    faults: new Map(),
    ...view,
  };
}

/** A submitted form with a fault in every field. */
export function refusedForm(view: Partial<StepView> = {}): StepView {
  const wrong: readonly (readonly [string, AnswerFault])[] = [
    ["", "REQUIRED"],
    ["ada@engines", "EMAIL"],
    ["12", "PHONE"],
    ["", "REQUIRED"],
    ["vegan", "OPTION"],
    ["party", "OPTION"],
    ["7", "NUMBER"],
    ["", "DATE"],
    ["", "RATING"],
    ["A very long story", "TOO_LONG"],
  ];
  const { fields } = steps.form.payload;
  return newView(steps.form, {
    entered: new Map(fields.map(({ id }, index) => [formFieldName(id), [wrong[index]?.[0] ?? ""]])),
    faults: new Map(fields.map(({ id }, index) => [id, wrong[index]?.[1] ?? "REQUIRED"])),
    ...view,
  });
}

/** The password page after a wrong try. */
export function refusedPassword(view: Partial<StepView> = {}): StepView {
  return newView(steps.password, { faults: new Map([["password", "PASSWORD"]]), ...view });
}
