import type { StepAction } from "./workflow.ts";

/** What steps do, as the engine and the pages read it: enum values bare, defaults filled in, choices in the order shown. */
export interface Payloads {
  readonly LINK_VISIT: object;
  readonly PASSWORD_VERIFY: PasswordPayload;
  readonly FORM_SUBMIT: FormPayload;
  readonly MESSAGE_PAGE: MessagePagePayload;
  readonly MULTI_LINK: MultiLinkPayload;
  readonly CLIENT_REDIRECT: RedirectPayload;
  readonly THANK_YOU_PAGE: TitledPayload;
  readonly CONTACT_CARD: ContactCardPayload;
  readonly SOCIAL_LINKS_PAGE: SocialLinksPayload;
  readonly VISIT_TYPE_CONDITION: Choices<{ readonly value: "FIRST" | "RETURNING" }>;
  readonly VISITOR_DATA_CONDITION: Choices<VisitorDataChoice>;
  readonly COUNTRY_CONDITION: Choices<{ readonly countryCode: string }>;
  readonly DAY_OF_WEEK_CONDITION: Choices<NamedChoice & { readonly daysOfWeek: readonly number[] }>;
  readonly TIME_OF_DAY_CONDITION: Choices<NamedChoice & TimeRange>;
  readonly DAY_OF_MONTH_CONDITION: Choices<NamedChoice & { readonly dayOfMonth: number }>;
  readonly SPECIFIC_DATE_CONDITION: Choices<NamedChoice & CalendarDate>;
  readonly DEVICE_TYPE_CONDITION: Choices<NamedChoice & DeviceChoice>;
  readonly DEVICE_PLATFORM_CONDITION: Choices<NamedChoice & DeviceChoice>;
  readonly DEVICE_BROWSER_CONDITION: Choices<NamedChoice & DeviceChoice>;
  readonly DEVICE_BRAND_CONDITION: Choices<NamedChoice & DeviceChoice>;
  readonly DEVICE_ACTOR_CONDITION: Choices<NamedChoice & DeviceChoice>;
}

export interface TitledPayload {
  readonly title: string;
  readonly description: string;
}

export interface PasswordPayload extends TitledPayload {
  /** As it is stored: sealed, in base64; empty when none is set, which nobody can enter. */
  readonly password: string;
}

export type FormFieldType =
  | "TEXT"
  | "EMAIL"
  | "PHONE"
  | "TEXTAREA"
  | "RADIO"
  | "CHECKBOX"
  | "DROPDOWN"
  | "NUMBER"
  | "DATE"
  | "RATING";

export interface FormField {
  readonly id: string;
  /** The attribute that the answer is saved as; reserved ones begin with `$`. */
  readonly key: string;
  readonly label: string;
  readonly type: FormFieldType;
  readonly required: boolean;
  readonly order: number;
  /** Of RADIO, CHECKBOX and DROPDOWN. */
  readonly options: readonly { readonly label: string; readonly value: string }[];
  readonly defaultValue: string;
  readonly placeholder: string;
  readonly helpText: string;
  /** A regular expression for the page alone; the server does not run it. */
  readonly validationPattern: string;
}

export interface FormPayload extends TitledPayload {
  readonly fields: readonly FormField[];
  /** Empty means the default words, in the visitor's language. */
  readonly submitButtonText: string;
  readonly skipForm: boolean;
  readonly skipButtonText: string;
  readonly autoSkipIfKnown: boolean;
}

export interface MessagePagePayload extends TitledPayload {
  readonly navigationType: "BUTTON" | "TIMER";
  readonly buttonLabel: string;
  readonly timerSeconds: number;
}

export interface MultiLinkPayload extends TitledPayload {
  readonly buttons: readonly { readonly id: string; readonly label: string; readonly order: number }[];
}

export interface RedirectPayload {
  readonly destination: string;
  readonly conversionTracking: boolean;
}

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
  readonly buttonLabel: string;
}

/** The choices of a condition, in the order they are tried. */
export interface Choices<Choice> {
  readonly choices: readonly (Choice & { readonly branchId: string })[];
}

export interface NamedChoice {
  readonly id: string;
  readonly name: string;
}

export interface TimeRange {
  /** `HH:MM`, inclusive. */
  readonly startTime: string;
  /** `HH:MM`, exclusive. */
  readonly endTime: string;
}

export interface CalendarDate {
  /** Undefined means every year. */
  readonly year: number | undefined;
  readonly month: number;
  readonly day: number;
}

export interface DeviceChoice {
  /** Bare and upper case: `MOBILE`, `IOS`, `CHROME`, `HUMAN`; a brand as `APPLE`. */
  readonly value: string;
}

export interface VisitorDataChoice {
  readonly id: string;
  readonly attributeKey: string;
  /** Bare: `STRING_EQUALS`. */
  readonly operator: string;
  readonly comparisonValue: string;
}

/** What a step saves to the visitor. */
export interface AttributeCapture {
  readonly attributes: readonly {
    readonly key: string;
    readonly source: "CHOICE" | "MILESTONE" | "LINK_CONTEXT";
    readonly value: string;
    readonly type: AttributeType;
  }[];
  readonly setOnce: boolean;
}

export type AttributeType = "STRING" | "NUMBER" | "BOOLEAN" | "DATE" | "ENUM";

/** Reads a stored payload. Undefined when it is broken, which leads visitors to the fallback. */
export type ReadPayload = <Action extends StepAction>(
  action: Action,
  stored: unknown,
) => Payloads[Action] | undefined;
