import type { AnswerFault } from "../../workflow/steps/step.ts";

/** What hosted pages say of their own, in one language. `{when}` stands for a span such as "in 5 seconds". */
export interface Words {
  readonly passwordTitle: string;
  readonly password: string;
  readonly continue: string;
  readonly submit: string;
  readonly skip: string;
  readonly optional: string;
  /** The first line of a drop-down list. */
  readonly choose: string;
  /** Above a form with faults. */
  readonly checkAnswers: string;
  readonly faults: Readonly<Record<AnswerFault, string>>;
  /** Names of the reserved attributes, for fields without a label, and of the lines of a contact card. */
  readonly email: string;
  readonly phone: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly website: string;
  readonly address: string;
  readonly saveContact: string;
  /** With `{rating}`, 1 to 5. */
  readonly rating: string;
  /** Of a page that moves on by itself, with `{when}`. */
  readonly goesOn: string;
  readonly goOnNow: string;
  /** The last line of pages that name the service, with `{service}`. */
  readonly madeWith: string;
  readonly notices: Readonly<Record<NoticeKind, { readonly title: string; readonly text: string }>>;
}

/** Pages that stand where a link's own page cannot. */
export type NoticeKind =
  | "NOT_FOUND"
  | "NOT_AVAILABLE"
  | "EXPIRED"
  | "BAD_REQUEST"
  | "FORBIDDEN"
  | "WRONG_METHOD"
  | "TOO_LARGE"
  | "TOO_MANY_MISSES"
  /** With `{when}`. */
  | "TOO_MANY_TRIES"
  | "UNAVAILABLE"
  | "HOME";
