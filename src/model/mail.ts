/** The limits of plans that mails have words for. */
export type QuotaLimit =
  | "ASSISTANT_MESSAGES_PER_MINUTE"
  | "CUSTOM_DOMAINS"
  | "LINKS_INCLUDED"
  | "PLATFORM_CREDITS"
  | "PUBLIC_API_CALLS"
  | "TEAM_MEMBERS"
  | "TRACKED_VISITS"
  | "WEBHOOKS";

/** A number of a period, and that of the period before it. */
export interface Compared {
  readonly now: number;
  readonly before: number;
}

/** What each kind of mail tells, beside the names of its member and its workspace. */
export interface MailFacts {
  /** Somebody was invited; the link sets a password. */
  readonly invitation: { readonly challengeId: string };
  /** Somebody signed up, and is alone in the new workspace; the link sets a password as that of an invitation does. */
  readonly "sign-up": { readonly challengeId: string };
  /** An address is to be confirmed. */
  readonly "email-confirmation": { readonly challengeId: string };
  /** Goes to the old address: another one signs in from now on. */
  readonly "email-changed": { readonly newEmail: string };
  readonly "sign-in-code": { readonly challengeId: string };
  readonly "password-reset": { readonly challengeId: string };
  /** A limit of the plan was used to the stated percentage. */
  readonly quota: {
    readonly limit: QuotaLimit;
    readonly percent: 80 | 100;
    readonly used: number;
    readonly allowed: number;
  };
  /** What happened in a period; days are `2026-11-01`. */
  readonly digest: {
    readonly period: "week" | "month";
    readonly firstDay: string;
    readonly lastDay: string;
    readonly visits: Compared;
    readonly links: Compared;
    readonly visitors: Compared;
    /** The links with the most visits, those with most first. */
    readonly mostVisited: readonly { readonly name: string; readonly visits: number }[];
  };
  readonly "webhook-disabled": { readonly url: string; readonly reason: string };
  /** A custom domain leads elsewhere: the fault says where. Until `servedUntil`, an ISO time, it is served all the same. */
  readonly "domain-away": { readonly domain: string; readonly fault: string; readonly servedUntil: string };
  /** Until `restorableUntil`, an ISO time, the operator can restore the workspace. */
  readonly "workspace-deleted": { readonly restorableUntil: string };
}

export type MailKind = keyof MailFacts;
