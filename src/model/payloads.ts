import type { AttributeOperator } from "./attribute-operators.ts";
import type { RedirectTarget } from "./redirect-target.ts";

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
  readonly DAY_OF_WEEK_CONDITION: Choices<NamedChoice & DaysOfWeek>;
  readonly TIME_OF_DAY_CONDITION: Choices<NamedChoice & TimeRange>;
  readonly DAY_OF_MONTH_CONDITION: Choices<NamedChoice & DayOfMonth>;
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
  /** Empty means the default words, in the visitor's language. */
  readonly skipButtonText: string;
  readonly autoSkipIfKnown: boolean;
}

export interface MessagePagePayload extends TitledPayload {
  readonly navigationType: "BUTTON" | "TIMER";
  /** Empty means the default word, in the visitor's language. */
  readonly buttonLabel: string;
  /** 1 to 300 with TIMER. */
  readonly timerSeconds: number;
}

export interface MultiLinkButton {
  readonly id: string;
  readonly label: string;
  readonly order: number;
}

export interface MultiLinkPayload extends TitledPayload {
  /** At least one. */
  readonly buttons: readonly MultiLinkButton[];
}

export interface RedirectPayload {
  /** Never empty. */
  readonly destination: string;
  readonly conversionTracking: boolean;
  /** The destination, taken apart. */
  readonly target: RedirectTarget;
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

/** At least one of the names is there: without a name there is no card to make. */
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
  /** Empty means the default words, in the visitor's language. */
  readonly buttonLabel: string;
}

/** The choices of a condition, in the order they are tried. */
export interface Choices<Choice> {
  readonly choices: readonly (Choice & { readonly branchId: string })[];
}

/** One choice of a condition of this kind. */
export type StepChoice<Action extends keyof Payloads> =
  Payloads[Action] extends Choices<infer Choice> ? Choice : never;

export interface NamedChoice {
  readonly id: string;
  readonly name: string;
}

export interface DaysOfWeek {
  /** 0 for Sunday to 6 for Saturday. */
  readonly daysOfWeek: readonly number[];
}

export interface TimeRange {
  /** `HH:MM`, inclusive. */
  readonly startTime: string;
  /** `HH:MM`, exclusive; before the start when the range runs over midnight. */
  readonly endTime: string;
}

export interface DayOfMonth {
  /** 1 to 31, or -1 for the last day. */
  readonly dayOfMonth: number;
}

export interface CalendarDate {
  /** Undefined means every year. */
  readonly year: number | undefined;
  readonly month: number;
  readonly day: number;
}

export interface DeviceChoice {
  /** Bare and upper case: `MOBILE`, `IOS`, `CHROME`, `HUMAN`, `APPLE`; empty matches nobody. */
  readonly value: string;
}

export interface VisitorDataChoice {
  readonly id: string;
  /** Reserved ones with `$`. */
  readonly attributeKey: string;
  /** Undefined matches nobody. */
  readonly operator: AttributeOperator | undefined;
  readonly comparisonValue: string;
}

/** What a step saves to the visitor; there is at least one attribute. */
export interface AttributeCapture {
  readonly attributes: readonly CapturedAttribute[];
  /** Fills empty attributes only. */
  readonly setOnce: boolean;
}

export interface CapturedAttribute {
  readonly key: string;
  readonly source: "CHOICE" | "MILESTONE" | "LINK_CONTEXT";
  /** For MILESTONE what to save, for LINK_CONTEXT which piece of the link, for CHOICE empty. */
  readonly value: string;
  readonly type: AttributeType;
}

export type AttributeType = "STRING" | "NUMBER" | "BOOLEAN" | "DATE" | "ENUM";
