/** Everything that the sign-in pages say, in one language. */
export interface Words {
  readonly email: string;
  readonly password: string;
  readonly newPassword: string;
  readonly passwordHelp: string;
  readonly code: string;
  readonly workspaceName: string;
  readonly signIn: string;
  readonly forgotten: string;
  readonly toSignUp: string;
  readonly toSignIn: string;
  readonly signOut: string;
  readonly continue: string;
  readonly codeTitle: string;
  readonly codeLead: string;
  /** With `{workspace}`. */
  readonly invitationTitle: string;
  /** With `{email}`, as `resetLead` and `confirmLead`. */
  readonly invitationLead: string;
  readonly confirmTitle: string;
  readonly confirmLead: string;
  readonly confirm: string;
  readonly forgottenTitle: string;
  readonly forgottenLead: string;
  readonly sendLink: string;
  readonly sentTitle: string;
  readonly sentLead: string;
  readonly resetTitle: string;
  readonly resetLead: string;
  readonly setPassword: string;
  readonly accountTitle: string;
  /** With `{email}` and `{workspace}`. */
  readonly accountLead: string;
  readonly signUpTitle: string;
  readonly signUpLead: string;
  readonly create: string;
  readonly claimTitle: string;
  /** With `{agent}` and `{email}`. */
  readonly claimLead: string;
  /** With `{agent}`; the permissions follow. */
  readonly claimScopes: string;
  readonly claimCodeHelp: string;
  readonly claim: string;
  /** Stands for an agent that has given no name. */
  readonly someAgent: string;
  readonly passkeys: Readonly<
    Record<"title" | "lead" | "none" | "add" | "remove" | "signIn" | "failed" | "full", string>
  >;
  /** With `{date}`. */
  readonly passkeyOf: string;
  readonly consent: Readonly<
    Record<
      /** With `{program}`. */
      | "title"
      /** With `{program}`, as `described`; `described` and `goesTo` with `{host}`, too. */
      | "unverified"
      | "described"
      | "goesTo"
      | "onDevice"
      | "may"
      | "allow"
      | "refuse"
      | "back"
      | "toContinue",
      string
    >
  >;
  readonly programs: Readonly<Record<"title" | "lead" | "none" | "remove", string>>;
  /** With `{program}` and `{date}`. */
  readonly programOf: string;
  /** Said above the form after the step before. */
  readonly done: Readonly<Record<Done, string>>;
  readonly faults: Readonly<Record<Fault, string>>;
  readonly notices: Readonly<Record<NoticeKind, { readonly title: string; readonly text: string }>>;
}

/** What has just happened. It stands in the address of a page, which shows nothing else of it. */
export type Done = "password" | "confirmed" | "signed-out";

export type Fault =
  | "WRONG"
  | "WRONG_CODE"
  | "EMAIL"
  | "PASSWORD_LENGTH"
  | "NAME"
  | "HAS_ACCOUNT"
  | "STALE"
  /** Of a request for consent. */
  | "NO_SCOPE"
  | "TOO_MANY_PROGRAMS"
  /** With `{when}`. */
  | "WAIT";

export type NoticeKind =
  | "NOT_FOUND"
  | "LINK_OVER"
  | "FORBIDDEN"
  | "WRONG_METHOD"
  | "BAD_REQUEST"
  | "TOO_LARGE"
  | "UNAVAILABLE"
  /** Of a request for consent, with what is wrong with it. */
  | "BAD_PROGRAM";
