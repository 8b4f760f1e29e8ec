import type { FormField } from "../model/steps/form-submit.ts";
import type { PageStep } from "./view.ts";

/** Made-up pages, one of each kind, to look at a theme. */
export const samples = {
  form: {
    action: "FORM_SUBMIT",
    payload: {
      title: "Book a table",
      description: "We answer within the hour.",
      fields: [
        field(0, { type: "TEXT", label: "First name", required: true }),
        field(1, { type: "EMAIL", label: "E-mail", required: true, placeholder: "name@example.com" }),
        field(2, {
          type: "RADIO",
          label: "Where would you like to sit?",
          options: choices("Inside", "Outside"),
        }),
        field(3, { type: "CHECKBOX", label: "Send me the news" }),
        field(4, { type: "TEXTAREA", label: "Anything else?" }),
      ],
      submitButtonText: "",
      skipForm: true,
      skipButtonText: "",
      autoSkipIfKnown: false,
    },
  },
  message: {
    action: "MESSAGE_PAGE",
    payload: {
      title: "Welcome to the museum",
      description: "The guide has twelve stops and takes about an hour.",
      navigationType: "BUTTON",
      buttonLabel: "Start the tour",
      timerSeconds: 0,
    },
  },
  "multi-link": {
    action: "MULTI_LINK",
    payload: {
      title: "Trattoria Verde",
      description: "Open every day until midnight",
      buttons: ["Menu", "Book a table", "How to find us"].map((label, order) => ({
        id: `button-${order}`,
        label,
        order,
      })),
    },
  },
  social: {
    action: "SOCIAL_LINKS_PAGE",
    payload: {
      title: "Ada Lovelace",
      description: "Notes on engines",
      displayStyle: "DETAILED",
      links: ["instagram", "youtube", "website"].map((platform, order) => ({
        id: `link-${order}`,
        platform,
        url: `https://${platform}.example/ada`,
        order,
      })),
    },
  },
  contact: {
    action: "CONTACT_CARD",
    payload: {
      firstName: "Ada",
      lastName: "Lovelace",
      title: "Analyst",
      organization: "Analytical Engines Ltd",
      email: "ada@engines.example",
      phone: "+442071234567",
      phoneIsWhatsapp: false,
      website: "https://engines.example",
      streetAddress: "12 St James’s Square",
      city: "London",
      state: "",
      postalCode: "SW1Y 4JH",
      country: "United Kingdom",
      socialLinks: [{ platform: "linkedin", url: "https://linkedin.example/ada" }],
      buttonLabel: "",
    },
  },
  "thank-you": {
    action: "THANK_YOU_PAGE",
    payload: { title: "Thank you!", description: "Your answer has arrived." },
  },
  password: {
    action: "PASSWORD_VERIFY",
    payload: {
      title: "Members’ area",
      description: "Enter the word that stands on your invitation.",
      password: "",
    },
  },
} as const satisfies Record<string, PageStep>;

function choices(...labels: readonly string[]): FormField["options"] {
  return labels.map((label) => ({ label, value: label }));
}

function field(order: number, more: Partial<FormField> & Pick<FormField, "type" | "label">): FormField {
  return {
    id: `field-${order}`,
    key: `field-${order}`,
    required: false,
    order,
    options: [],
    defaultValue: "",
    placeholder: "",
    helpText: "",
    validationPattern: "",
    ...more,
  };
}
