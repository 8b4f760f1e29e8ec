/** What each kind of mail tells, beside the names of its member and its workspace. */
export interface MailFacts {
  /** Somebody was invited; the link sets a password. */
  readonly invitation: { readonly challengeId: string };
  /** An address is to be confirmed. */
  readonly "email-confirmation": { readonly challengeId: string };
  /** Goes to the old address: another one signs in from now on. */
  readonly "email-changed": { readonly newEmail: string };
  readonly "sign-in-code": { readonly challengeId: string };
  readonly "password-reset": { readonly challengeId: string };
  /** A limit of the plan was used to the stated percentage. */
  readonly quota: {
    readonly limit: string;
    readonly percent: 80 | 100;
    readonly used: number;
    readonly allowed: number;
  };
  /** What happened in a period; days are `2026-11-01`. */
  readonly digest: { readonly firstDay: string; readonly lastDay: string };
  readonly "webhook-disabled": { readonly url: string; readonly reason: string };
  /** Until `restorableUntil`, an ISO time, the operator can restore the workspace. */
  readonly "workspace-deleted": { readonly restorableUntil: string };
}

export type MailKind = keyof MailFacts;
